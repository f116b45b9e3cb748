"""What a toxic does to a stream: for each piece that comes, when which pieces leave. Times are in ns.

Each kind is a small object of a connection's own; they do as toxiproxy's do, but for what `stages` says of
toxics that change while pieces wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final, Protocol

from barnabas.proxy.matching.seeded_random import Roll

MS: Final = 1_000_000
US: Final = 1_000
NEVER: Final = 1 << 63

CHUNKS: Final = 1024 * (32 << 10)
"""Bytes that a latency holds before the sender is not read from: toxiproxy has 1,024 chunks of 32 KiB."""

ROOM: Final = 64 << 10
"""The same of others."""

PIECES: Final = 16 << 10
"""Pieces that any of them holds before that: small ones take more than their bytes."""


class End(Enum):
    """How a stream ends."""

    FIN = "fin"
    """Its sender sends no more."""
    CLOSE = "close"
    """The connection is closed."""
    RESET = "reset"
    """The connection is reset."""


Piece = bytes | End


class Behaviour(Protocol):
    """What a toxic does. `due`: when the stream ends by itself, if it does."""

    room: int
    due: int | None

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """When what leaves of a piece that has come. Never earlier than what came before."""


class Noop:
    """Nothing."""

    room = ROOM
    due: int | None = None

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """At once."""
        yield now, piece


class Latency:
    """`latency` ± `jitter` ms behind its arrival; the order stays."""

    room = CHUNKS
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._latency, self._jitter = attributes["latency"], attributes["jitter"]
        self._roll = roll
        self._last = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """What ends the stream has no latency of its own."""
        delay = 0 if isinstance(piece, End) else self._latency
        if self._jitter > 0 and not isinstance(piece, End):
            delay += int(self._roll() * 2 * self._jitter) - self._jitter
        self._last = min(max(self._last, now, now + delay * MS), NEVER)
        yield self._last, piece


class Bandwidth:
    """`rate` kB a second, in pieces of 100 ms at most; of 0 nothing passes."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._rate = attributes["rate"]
        self._free = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """When the line has carried it."""
        self._free = max(self._free, now)
        if isinstance(piece, End):
            yield self._free, piece
        elif self._rate <= 0:
            self._free = NEVER
            yield NEVER, piece
        else:
            step = self._rate * 100
            for start in range(0, len(piece), step):
                part = piece[start : start + step]
                self._free += len(part) * MS // self._rate
                yield self._free, part


class SlowClose:
    """The end comes `delay` ms later."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._delay = attributes["delay"] * MS
        self._ends = 0

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Data at once, the end late; a second end is late with the first."""
        if isinstance(piece, End):
            self._ends = self._ends or min(now + max(self._delay, 0), NEVER)
            now = max(now, self._ends)
        yield now, piece


class Timeout:
    """Nothing passes; the connection is closed when `timeout` ms have gone by in which nothing came."""

    room = ROOM

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._timeout = attributes["timeout"] * MS
        self.due: int | None = None
        self._wait(now)

    def _wait(self, now: int) -> None:
        if self._timeout > 0:
            self.due = now + self._timeout

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Only the end passes."""
        if isinstance(piece, End):
            yield now, piece
        else:
            self._wait(now)


class ResetPeer:
    """`timeout` ms after the first piece the connection is reset; nothing passes."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._timeout = max(attributes["timeout"], 0) * MS
        self._begun = False

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Once."""
        if not self._begun:
            self._begun = True
            yield min(now + self._timeout, NEVER), End.RESET


class Slicer:
    """Pieces of `average_size` ± `size_variation` bytes, `delay` µs apart."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._size, self._variation = attributes["average_size"], attributes["size_variation"]
        self._delay = max(attributes["delay"], 0) * US
        self._roll = roll
        self._free = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Halved until the halves are small enough, as toxiproxy does; no piece is empty."""
        self._free = max(self._free, now)
        if isinstance(piece, End):
            yield self._free, piece
            return
        waiting = [(0, len(piece))]
        while waiting:
            start, end = waiting.pop()
            if end - start <= max(self._size + self._variation, 1):
                yield self._free, piece[start:end]
                self._free = min(self._free + self._delay, NEVER)
                continue
            middle = (start + end) // 2
            if self._variation > 0:
                middle += int(self._roll() * 2 * self._variation) - self._variation
            middle = min(max(middle, start + 1), end - 1)
            waiting += (middle, end), (start, middle)


class LimitData:
    """Behind `bytes` bytes the connection is closed."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._limit = attributes["bytes"]
        self.sent = 0

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """As much as may still pass."""
        if isinstance(piece, End):
            yield now, piece
            return
        part = piece[: max(self._limit - self.sent, 0)]
        self.sent += len(part)
        if part:
            yield now, part
        if self.sent >= self._limit:
            yield now, End.CLOSE


KINDS: Final[dict[str, Callable[[dict[str, Any], Roll, int], Behaviour]]] = {
    "latency": Latency,
    "bandwidth": Bandwidth,
    "slow_close": SlowClose,
    "timeout": Timeout,
    "reset_peer": ResetPeer,
    "slicer": Slicer,
    "limit_data": LimitData,
}
"""By type; what is not here does nothing to bytes."""
