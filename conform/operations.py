"""What a check may do: connections, bytes, time. A driver carries out each operation and returns its result.

A check is a coroutine that awaits operations and does no I/O of its own: the same code runs against a live
broker (`network.py`) and against recorded results (`drive.py`).
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

Address = tuple[str, int]

Steps = Coroutine["Operation[Any]", Any, T]
"""A coroutine that awaits operations."""


class Operation(Generic[T]):
    """A request of a check to its driver."""

    __slots__ = ()

    def __await__(self) -> Generator[Operation[T], T, T]:
        return (yield self)


class Silence(Exception):
    """The broker sent nothing within the timeout."""


class Unreachable(Exception):
    """The broker refuses connections."""


class NotOwned(Unreachable):
    """The broker is on another machine, and the user has not confirmed ownership."""


@dataclass(frozen=True, slots=True)
class Open(Operation[int]):
    """Connect, and return the connection's number. Raises Unreachable."""

    address: Address | None = None
    """None: the broker under test."""


@dataclass(frozen=True, slots=True)
class Write(Operation[None]):
    """Send bytes. A connection that the broker has closed ignores them."""

    connection: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Read(Operation[bytes | None]):
    """Return the next frame without its size, or None if the broker has closed the connection.

    Raises Silence after some seconds.
    """

    connection: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Close(Operation[None]):
    """Close a connection: both directions, the sending direction only, or by a reset."""

    connection: int
    how: Literal["close", "half", "reset"] = "close"


@dataclass(frozen=True, slots=True)
class Sleep(Operation[None]):
    """Let time pass."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now(Operation[float]):
    """Return a monotonic time in seconds."""


@dataclass(frozen=True, slots=True)
class Restart(Operation[bool]):
    """Restart the broker, and return whether that was possible."""
