"""Write a connection to a capture with masked secrets and, if configured, masked payload.

Only whole frames can be masked. So bytes of an unknown or incomplete frame are held back, and written later
in their original pieces, each with its time. Chunks that passed unparsed have nothing to hide, and are
written unchanged.
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
    """A whole frame that may have something to hide, and ends at `end` of the current chunk.

    `size` includes the size prefix; the frame may begin in earlier chunks.
    """

    end: int
    size: int
    ordinal: int
    key: int
    version: int


class _Held:
    """Bytes that can't be written yet, with their times."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._ends: list[int] = []
        self._times: list[int] = []

    def add(self, ts_ns: int, data: Buffer) -> None:
        """Add a piece."""
        self.data += data
        self._ends.append(len(self.data))
        self._times.append(ts_ns)

    def take(self, count: int) -> list[tuple[int, bytes]]:
        """Remove and return the first bytes, in their pieces."""
        pieces: list[tuple[int, bytes]] = []
        at = 0
        for ts_ns, end in zip(self._times, self._ends, strict=True):
            if at >= count:
                break
            pieces.append((ts_ns, bytes(self.data[at : min(end, count)])))
            at = end
        whole = len(pieces) - (at > count)
        self._times = self._times[whole:]
        self._ends = [end - count for end in self._ends[whole:]]
        del self.data[:count]
        return pieces


class MaskedFlow:
    """A FlowWriter that masks the chunks given to `took`."""

    def __init__(self, flow: FlowWriter | Tee, masking: Masking) -> None:
        self.arrived: Callable[[Direction, Buffer, int], None] = flow.arrived
        """Writes a chunk that passed unparsed."""
        self._flow = flow
        self._masking = masking
        self._held: dict[Direction, _Held] = {"request": _Held(), "response": _Held()}

    @property
    def behind(self) -> bool:
        """Return whether another segment of the capture has begun: call `go_on` before the next chunk."""
        return self._flow.behind

    def go_on(self, ts_ns: int, standing: Callable[[Mapping[Direction, int]], Comment]) -> None:
        """Introduce the connection in another segment.

        `standing` makes its state from the number of bytes held back in each direction.
        """
        held_back = {direction: len(held.data) for direction, held in self._held.items()}
        self._flow.go_on(ts_ns, standing(held_back))

    def upstream(self, local: Endpoint, broker: Endpoint) -> None:
        """Set the addresses of the connection to the broker, before any frame leaves."""
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
        """Write a parsed chunk; the last `rest` bytes so far belong to an incomplete frame.

        Args:
            direction: The direction of the chunk.
            data: The chunk as it arrived.
            ts_ns: Its time.
            cuts: The comments on frames that end in it.
            hidden: The frames that end in it and may have something to hide.
            rest: Bytes, of all that arrived, after the last whole frame.
        """
        held = self._held[direction]
        before = len(held.data)
        if not (before or hidden or rest):
            self._flow.arrived(direction, data, ts_ns, cuts)
            return
        held.add(ts_ns, data)
        comments = [*cuts]
        for frame in hidden:
            end = before + frame.end
            start = end - frame.size
            masked = self._masking.frame(
                bytes(held.data[start:end]), direction, frame.key, frame.version
            )
            held.data[start:end] = masked.data
            if masked.payload:
                comments.append((frame.end, {"frame": frame.ordinal, "payload": masked.payload}))
        ready = len(held.data) - rest
        pieces = held.take(ready) if ready > 0 else []
        if ready <= before:  # nothing of this chunk is written yet, but its comments are
            pieces.append((ts_ns, b""))
            comments = [(0, comment) for _, comment in comments]
        for when, piece in pieces[:-1]:
            self._flow.arrived(direction, piece, when, ())
        when, piece = pieces[-1]
        if piece or comments:
            self._flow.arrived(direction, piece, when, comments)

    def unread(self, direction: Direction, size: int, ts_ns: int) -> None:
        """Write that bytes arrived which nobody parsed, such as those in a black hole."""
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
        """Write a frame that left changed or delayed."""
        masked = self._masking.frame(data, direction, key, version)
        if masked.payload:
            comment = {**comment, "payload": masked.payload}
        self._flow.left(direction, masked.data, ts_ns, comment)

    def close(self, ts_ns: int, reset: bool = False, by: Direction | None = None) -> None:
        """Write the end of the connection; of bytes that were not parsed only the first size is shown.

        `by` is the direction whose sender ended it, if the capture should record it.
        """
        for direction, held in self._held.items():
            held.data[4:] = b"*" * (len(held.data) - 4)
            for when, piece in held.take(len(held.data)):
                self._flow.arrived(direction, piece, when)
        if by is not None:
            self._flow.arrived(by, b"", ts_ns, [(0, ended_by(by))])
        self._flow.close(ts_ns, reset)
