"""A connection that is being written to a capture without what is to be hidden.

What is to be hidden stands in frames, and a frame comes in chunks of which the first need not say what
it is. So bytes whose frame is not known, or not whole, are kept back; once they can be written, masked
if need be, they are: each piece with the time of its arrival. Chunks that pass unread hold nothing of
the kind, and are written as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from captures.masking import Masking
from captures.pcapng_writing import Buffer
from captures.tcp import Endpoint
from captures.writer import Comment, Cut, FlowWriter
from specs.frames import Direction


class Hidden(NamedTuple):
    """A frame that may hold something, whole with the present chunk: it ends at `end` of it.

    `size` counts its size prefix too; it may begin in chunks before.
    """

    end: int
    size: int
    ordinal: int
    key: int
    version: int


class MaskedFlow:
    """As FlowWriter, but `took` gets the chunks that did not pass unread."""

    def __init__(self, flow: FlowWriter, masking: Masking) -> None:
        self.arrived: Callable[[Direction, Buffer, int], None] = flow.arrived
        """For a chunk that passed unread."""
        self._flow = flow
        self._masking = masking
        self._held: dict[Direction, list[tuple[int, bytes]]] = {"request": [], "response": []}
        """Pieces that can't be written yet, with the times of their arrival."""

    @property
    def behind(self) -> bool:
        """Whether another segment of the capture has begun: `go_on` before the next chunk."""
        return self._flow.behind

    def go_on(self, ts_ns: int, standing: Callable[[Mapping[Direction, int]], Comment]) -> None:
        """In another segment: `standing` makes what is said of the connection, of how many bytes that
        came are kept back in each direction."""
        kept = {way: sum(len(piece) for _, piece in held) for way, held in self._held.items()}
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
        if not (held or hidden or rest):
            self._flow.arrived(direction, data, ts_ns, cuts)
            return
        before = sum(len(piece) for _, piece in held)
        if rest >= before + len(data):
            held.append((ts_ns, bytes(data)))
            if cuts:
                self._flow.arrived(direction, b"", ts_ns, [(0, comment) for _, comment in cuts])
            return
        pieces = [*held, (ts_ns, bytes(data))]
        stream = bytearray(b"".join(piece for _, piece in pieces))
        found = [*cuts]
        for frame in hidden:
            end = before + frame.end
            start = end - frame.size
            masked = self._masking.frame(
                bytes(stream[start:end]), direction, frame.key, frame.version
            )
            stream[start:end] = masked.data
            if masked.payload:
                found.append((frame.end, {"frame": frame.ordinal, "payload": masked.payload}))
        self._write(direction, stream, pieces, len(stream) - rest, found)

    def unread(self, direction: Direction, size: int, ts_ns: int) -> None:
        """Bytes that nobody looked into, such as those in a black hole: only that they came."""
        self._flow.arrived(direction, b"*" * size, ts_ns)

    def _write(
        self,
        direction: Direction,
        stream: bytearray,
        pieces: list[tuple[int, bytes]],
        until: int,
        cuts: Sequence[Cut],
    ) -> None:
        """Write the stream up to there in its pieces, and hold the others; cuts are for the last."""
        kept = self._held[direction] = []
        at = 0
        for number, (ts_ns, piece) in enumerate(pieces, start=1):
            end = at + len(piece)
            ready = max(min(end, until) - at, 0)
            mine = cuts if number == len(pieces) else ()
            if ready or mine:
                self._flow.arrived(direction, bytes(stream[at : at + ready]), ts_ns, mine)
            if ready < len(piece):
                kept.append((ts_ns, piece[ready:]))
            at = end

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

    def close(self, ts_ns: int, reset: bool = False) -> None:
        """The connection is closed; of a frame that was cut off no more than its size is shown."""
        for direction, held in self._held.items():
            shown = 4
            for when, piece in held:
                clear = piece[:shown]
                shown -= len(clear)
                self._flow.arrived(direction, clear + b"*" * (len(piece) - len(clear)), when)
            held.clear()
        self._flow.close(ts_ns, reset)
