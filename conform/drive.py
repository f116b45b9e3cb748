"""Runs a check on results that a function returns: the driver of tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from barnabas.conform.operations import Operation, Silence, Steps, T, Unreachable


def drive(steps: Steps[T], perform: Callable[[Operation[Any]], Any]) -> T:
    """Run a coroutine of operations to its end, and return its result.

    Args:
        steps: the coroutine.
        perform: returns the result of an operation; Silence and Unreachable are raised in the coroutine.
    """
    send: Callable[[Any], Operation[Any]] = steps.send
    value: Any = None
    try:
        while True:
            value = perform(send(value))
            send = steps.throw if isinstance(value, Silence | Unreachable) else steps.send
    except StopIteration as end:
        returned: T = end.value
        return returned
    finally:
        steps.close()
