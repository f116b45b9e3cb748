"""The errors of the fuzzer as errors of the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from barnabas.cli.console.output import Output
from barnabas.fuzz.database.findings import FindingsError
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, INTERRUPTED, Trouble

P = ParamSpec("P")


def reported(command: Callable[P, int]) -> Callable[P, int]:
    """Raise the fuzzer's errors as Trouble, and return an exit code when the command is interrupted."""

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
