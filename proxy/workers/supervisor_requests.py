"""Requests of a worker to the supervisor, for which it waits, since a message depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any, Final

PATIENCE: Final = 10.0
"""Seconds that a worker waits for a response."""


def request(end: Connection, name: str, *arguments: Any, patience: float = PATIENCE) -> Any:
    """Send a request and wait for the response.

    Raises:
        OSError: The supervisor's error, or the timeout.
    """
    end.send((name, arguments))
    if not end.poll(patience):
        raise TimeoutError(f"the supervisor did not answer in {patience:g} s")
    try:
        failure, value = end.recv()
    except EOFError:
        raise ConnectionResetError("the supervisor has ended") from None
    if failure is not None:
        raise failure
    return value


def respond(end: Connection, answers: Mapping[str, Callable[..., Any]]) -> bool:
    """Respond to the request at this end; return False if the worker has ended."""
    failure, value = None, None
    try:
        name, arguments = end.recv()
        try:
            value = answers[name](*arguments)
        except OSError as problem:
            failure = problem
        end.send((failure, value))
    except (EOFError, OSError):
        return False
    return True
