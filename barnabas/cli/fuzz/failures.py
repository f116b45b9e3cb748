"""What ends a command of `barnabas fuzz` before its end, as the command line says it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from barnabas.cli.console.output import Output
from barnabas.endings import interruptible
from barnabas.fuzz.database.findings import FindingsError
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.trouble import COULD_NOT_RUN, INTERRUPTED, Trouble

P = ParamSpec("P")


def reported(command: Callable[P, int]) -> Callable[P, int]:
    """Raise what the fuzzer raises as Trouble, and return the exit code where the command is interrupted."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> int:
        try:
            with interruptible():
                return command(*args, **kwargs)
        except Misuse as problem:
            raise Trouble(str(problem)) from None
        except (CannotRun, FindingsError) as problem:
            raise Trouble(str(problem), COULD_NOT_RUN) from None
        except KeyboardInterrupt:
            Output().note("interrupted")
            return INTERRUPTED

    return run
