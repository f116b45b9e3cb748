"""Runs a check on recorded results of its operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from barnabas.conform.operations import Operation, Silence, Steps, T, Unreachable

Answer = Callable[[Operation[Any], Any], Any]
"""Turns an operation and its recorded result into the result that the check gets."""


class Drift(Exception):
    """The check performs other operations than were recorded."""


def replay(
    steps: Steps[T],
    recorded: Sequence[tuple[str, Any]],
    answer: Answer = lambda operation, result: result,
) -> T:
    """Run a check on recorded results: the kind of each operation, and what it returned or raised.

    Raises:
        Drift: the check performs another operation than the recorded one.
        Failed: the check fails, and so on: what the check raises.
    """
    send: Callable[[Any], Operation[Any]] = steps.send
    value: Any = None
    results = iter(recorded)
    try:
        while True:
            operation = send(value)
            kind, result = next(results, ("nothing more", None))
            if kind != type(operation).__name__:
                raise Drift(f"the check performs {type(operation).__name__}; recorded: {kind}")
            value = answer(operation, result)
            send = steps.throw if isinstance(value, Silence | Unreachable) else steps.send
    except StopIteration as end:
        returned: T = end.value
        return returned
    finally:
        steps.close()
