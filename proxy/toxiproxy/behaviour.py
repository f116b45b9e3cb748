"""The behaviour of toxics: for each piece of a stream, when which pieces leave. Times are in ns.

Each behaviour is a small object of one connection. Behaviours match toxiproxy's, but for what `stages` says
about toxics that change while pieces wait.
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
"""The bytes that a latency holds before the sender is not read from: toxiproxy has 1,024 chunks of 32 KiB."""

ROOM: Final = 64 << 10
"""The bytes that any other toxic holds before that."""

PIECES: Final = 16 << 10
"""The pieces that any toxic holds before that: small pieces take more memory than their bytes."""


class End(Enum):
    """The way in which a stream ends."""

    FIN = "fin"
    """The sender sends no more."""
    CLOSE = "close"
    """The connection is closed."""
    RESET = "reset"
    """The connection is reset."""


Piece = bytes | End


class Behaviour(Protocol):
    """The behaviour of a toxic; `due` is when the stream ends by itself, if it does."""

    room: int
    due: int | None

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Yield the departure of each piece that results from an arriving one, never before earlier ones."""


class Noop:
    """A behaviour that changes nothing."""

    room = ROOM
    due: int | None = None

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Let the piece leave at once."""
        yield now, piece


class Latency:
    """A behaviour that delays pieces by `latency` ± `jitter` ms and keeps their order."""

    room = CHUNKS
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._latency, self._jitter = attributes["latency"], attributes["jitter"]
        self._roll = roll
        self._last = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Delay the piece; an end has no latency of its own."""
        delay = 0 if isinstance(piece, End) else self._latency
        if self._jitter > 0 and not isinstance(piece, End):
            delay += int(self._roll() * 2 * self._jitter) - self._jitter
        self._last = min(max(self._last, now, now + delay * MS), NEVER)
        yield self._last, piece


class Bandwidth:
    """A behaviour that lets `rate` kB per second pass, in pieces of at most 100 ms; with 0 nothing."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._rate = attributes["rate"]
        self._free = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Let each part leave when the line has carried it."""
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
    """A behaviour that delays the end of the stream by `delay` ms."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._delay = attributes["delay"] * MS
        self._ends = 0

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Let data leave at once, and delay the end; a second end leaves with the first."""
        if isinstance(piece, End):
            self._ends = self._ends or min(now + max(self._delay, 0), NEVER)
            now = max(now, self._ends)
        yield now, piece


class Timeout:
    """A behaviour that lets nothing pass and closes after `timeout` ms without an arriving piece."""

    room = ROOM

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._timeout = attributes["timeout"] * MS
        self.due: int | None = None
        self._wait(now)

    def _wait(self, now: int) -> None:
        if self._timeout > 0:
            self.due = now + self._timeout

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Let only an end pass."""
        if isinstance(piece, End):
            yield now, piece
        else:
            self._wait(now)


class ResetPeer:
    """A behaviour that lets nothing pass and resets `timeout` ms after the first piece."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._timeout = max(attributes["timeout"], 0) * MS
        self._begun = False

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Schedule the reset at the first piece."""
        if not self._begun:
            self._begun = True
            yield min(now + self._timeout, NEVER), End.RESET


class Slicer:
    """A behaviour that sends pieces of `average_size` ± `size_variation` bytes, `delay` µs apart."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._size, self._variation = attributes["average_size"], attributes["size_variation"]
        self._delay = max(attributes["delay"], 0) * US
        self._roll = roll
        self._free = now

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Halve the piece until its parts are small enough, as toxiproxy does; no part is empty."""
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
    """A behaviour that closes the connection after `bytes` bytes."""

    room = ROOM
    due: int | None = None

    def __init__(self, attributes: dict[str, Any], roll: Roll, now: int) -> None:
        self._limit = attributes["bytes"]
        self.sent = 0

    def plan(self, piece: Piece, now: int) -> Iterator[tuple[int, Piece]]:
        """Let as many bytes pass as remain."""
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
"""The behaviours by type; other types do nothing to bytes."""
