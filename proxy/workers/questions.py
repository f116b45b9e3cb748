"""What a worker asks of the supervisor and waits for, since a message can not go on without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any, Final

PATIENCE: Final = 10.0
"""Seconds that a worker waits for an answer."""


def ask(end: Connection, name: str, *about: Any, patience: float = PATIENCE) -> Any:
    """Ask, and wait. Raises OSError, that of who was asked or if nobody answers."""
    end.send((name, about))
    if not end.poll(patience):
        raise TimeoutError(f"the supervisor did not answer in {patience:g} s")
    try:
        failure, value = end.recv()
    except EOFError:
        raise ConnectionResetError("the supervisor has ended") from None
    if failure is not None:
        raise failure
    return value


def answer(end: Connection, answers: Mapping[str, Callable[..., Any]]) -> bool:
    """Answer what was asked at this end. False: whoever asked there is gone."""
    failure, value = None, None
    try:
        name, about = end.recv()
        try:
            value = answers[name](*about)
        except OSError as problem:
            failure = problem
        end.send((failure, value))
    except (EOFError, OSError):
        return False
    return True
