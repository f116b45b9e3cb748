"""Writes a connection to a capture with secrets, and payload if asked for, masked.

Only whole frames can be masked. So bytes whose frame is not known, or not whole, are kept back, and written
later in the pieces in which they came, each with its time. Chunks that pass unread hold nothing to be hidden,
and are written as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from barnabas.captures.files.pcapng import Buffer
from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.notes import ended_by
from barnabas.captures.writing.flow_writer import Comment, Cut, FlowWriter
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.tee import Tee
from barnabas.specs.frames import Direction


class Hidden(NamedTuple):
    """A frame that may hold something, whole with the present chunk: it ends at `end` of it.

    `size` counts its size prefix too; it may begin in chunks before.
    """

    end: int
    size: int
    ordinal: int
    key: int
    version: int


class _Held:
    """Bytes that can't be written yet, and when they came."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._ends: list[int] = []
        self._times: list[int] = []

    def add(self, ts_ns: int, data: Buffer) -> None:
        """Another piece."""
        self.data += data
        self._ends.append(len(self.data))
        self._times.append(ts_ns)

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """The first bytes, in their pieces; the others stay."""
        found: list[tuple[int, bytes]] = []
        at = 0
        for ts_ns, end in zip(self._times, self._ends, strict=True):
            if at >= count:
                break
            found.append((ts_ns, bytes(self.data[at : min(end, count)])))
            at = end
        whole = len(found) - (at > count)
        self._times = self._times[whole:]
        self._ends = [end - count for end in self._ends[whole:]]
        del self.data[:count]
        return found


class MaskedFlow:
    """As FlowWriter, but `took` gets the chunks that did not pass unread."""

    def __init__(self, flow: FlowWriter | Tee, masking: Masking) -> None:
        self.arrived: Callable[[Direction, Buffer, int], None] = flow.arrived
        """For a chunk that passed unread."""
        self._flow = flow
        self._masking = masking
        self._held: dict[Direction, _Held] = {"request": _Held(), "response": _Held()}

    @property
    def behind(self) -> bool:
        """Whether another segment of the capture has begun: `go_on` before the next chunk."""
        return self._flow.behind

    def go_on(self, ts_ns: int, standing: Callable[[Mapping[Direction, int]], Comment]) -> None:
        """In another segment: `standing` makes what is said of the connection, of how many bytes that
        came are kept back in each direction."""
        kept = {way: len(held.data) for way, held in self._held.items()}
        self._flow.go_on(ts_ns, standing(kept))

    def upstream(self, local: Endpoint, broker: Endpoint) -> None:
        """The addresses of the connection to the broker, before anything has left."""
        self._flow.upstream(local, broker)

    def took(
        self,
        direction: Direction,
        data: memoryview,
        ts_ns: int,
        cuts: Sequence[Cut],
        hidden: Sequence[Hidden],
        rest: int,
    ) -> None:
        """A chunk as it came; the last `rest` bytes of all that came belong to no whole frame."""
        held = self._held[direction]
        before = len(held.data)
        if not (before or hidden or rest):
            self._flow.arrived(direction, data, ts_ns, cuts)
            return
        held.add(ts_ns, data)
        found = [*cuts]
        for frame in hidden:
            end = before + frame.end
            start = end - frame.size
            masked = self._masking.frame(
                bytes(held.data[start:end]), direction, frame.key, frame.version
            )
            held.data[start:end] = masked.data
            if masked.payload:
                found.append((frame.end, {"frame": frame.ordinal, "payload": masked.payload}))
        ready = len(held.data) - rest
        pieces = held.take(ready) if ready > 0 else []
        if ready <= before:  # nothing of this chunk: what is said of it stands where it came
            pieces.append((ts_ns, b""))
            found = [(0, comment) for _, comment in found]
        for when, piece in pieces[:-1]:
            self._flow.arrived(direction, piece, when, ())
        when, piece = pieces[-1]
        if piece or found:
            self._flow.arrived(direction, piece, when, found)

    def unread(self, direction: Direction, size: int, ts_ns: int) -> None:
        """Bytes that nobody looked into, such as those in a black hole: only that they came."""
        self._flow.arrived(direction, b"*" * size, ts_ns)

    def left(
        self,
        direction: Direction,
        data: bytes,
        ts_ns: int,
        comment: Comment,
        key: int,
        version: int,
    ) -> None:
        """A frame that left otherwise than it came."""
        masked = self._masking.frame(data, direction, key, version)
        if masked.payload:
            comment = {**comment, "payload": masked.payload}
        self._flow.left(direction, masked.data, ts_ns, comment)

    def close(self, ts_ns: int, reset: bool = False, by: Direction | None = None) -> None:
        """The connection is closed; of a frame that was cut off no more than its size is shown. by: the
        direction whose sender ended it, if that is to be said."""
        for direction, held in self._held.items():
            held.data[4:] = b"*" * (len(held.data) - 4)
            for when, piece in held.take(len(held.data)):
                self._flow.arrived(direction, piece, when)
        if by is not None:
            self._flow.arrived(by, b"", ts_ns, [(0, ended_by(by))])
        self._flow.close(ts_ns, reset)
