"""Rewrite one direction of an arrived flow for another capture, without unselected frames.

Bytes are written as they come. A frame with something to hide waits until it is whole, and is written in its
original pieces, each with its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.captures.conversion.frame_masking import SIZE, FrameMasking
from barnabas.captures.conversion.spans import DROPPED, MASKED, NO_EXCHANGE, UNCHANGED, Spans
from barnabas.captures.kafka import notes
from barnabas.captures.kafka.exchange import SASL_TOKEN, UNREADABLE
from barnabas.captures.tcp.events import Chunk
from barnabas.specs.frames import Direction

Comment = dict[str, Any]


class Named(NamedTuple):
    """A frame with a comment: its number in the new capture, and the verdict on it."""

    ordinal: int
    verdict: int


@dataclass(slots=True)
class Piece:
    """Bytes to write with the comments after them, and the missing bytes before them."""

    ts_ns: int
    data: list[bytes] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    missing: int = 0


def in_pieces(data: bytes, held: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield masked bytes in the pieces in which they were held, each with its time."""
    at = 0
    for ts_ns, piece in held:
        yield ts_ns, data[at : at + len(piece)]
        at += len(piece)


@dataclass(slots=True)
class Stream:
    """The rewriting of a stream.

    In a slice, selected frames follow each other and are renumbered; else everything stays where it was.
    """

    direction: Direction
    spans: Spans
    frame_masking: FrameMasking
    sliced: bool
    named: dict[int, Named] = field(default_factory=dict)
    """Frames with comments, by their original number."""
    _walk: Iterator[tuple[int | None, int]] = field(init=False)
    _index: int | None = None
    _remaining: int = 0
    """Bytes until the end of the current span."""
    _next: int = 0
    """The index of the first incomplete frame."""
    _shown: int = SIZE
    """Bytes that may be a frame's size, if the next bytes belong to no frame."""
    _lost: int = 0
    """Bytes since the last frame that are missing or belong to no frame."""
    _written: int = 0
    """Frames written."""
    _ended: dict[int, int] = field(default_factory=dict)
    """New numbers of the frames that the current chunk completes, by index."""
    _gap_ns: int | None = None
    """When bytes were found to be missing, if nothing has come after them."""
    _held: list[tuple[int, bytes]] = field(default_factory=list)
    _out: list[Piece] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._walk = self.spans.walk()

    def take(self, chunk: Chunk) -> list[Piece]:
        """Return the pieces to write after a chunk."""
        self._out, self._ended, self._gap_ns = [], {}, None
        at, size = 0, len(chunk.data)
        first = self._next
        while at < size:
            if not self._remaining:
                self._index, self._remaining = next(self._walk)
                self._begin()
            count = min(self._remaining, size - at)
            piece = chunk.data if count == size else chunk.data[at : at + count]
            at += count
            self._remaining -= count
            self._take(chunk.ts_ns, piece)
        if chunk.comments:
            self._comment(chunk, first)
        return self._out

    def lose(self, count: int, ts_ns: int) -> list[Piece]:
        """Return the gap to write for missing bytes; none in a slice."""
        self._shown = 0
        self._lost += count or 1  # 0: an unknown number
        if self.sliced:
            return []
        if count:
            self._gap_ns = ts_ns
        return [Piece(ts_ns, missing=count or 1)]

    def end(self) -> list[Piece]:
        """Return the pieces of an incomplete frame at the end of the stream, and what shows a gap there."""
        self._out = []
        if self._gap_ns is not None:
            self._out.append(Piece(self._gap_ns, comments=[notes.GAP]))
        if self._held and self.spans.partial is not None:
            begun = b"".join(piece for _, piece in self._held)
            data = self.frame_masking.partial(begun, self.direction, self.spans.partial)
            for ts_ns, piece in in_pieces(data, self._held):
                self._emit(ts_ns, piece)
        return self._out

    def _begin(self) -> None:
        """Begin a span: a frame, or bytes outside frames."""
        index = self._index
        if index is None:
            return
        if self.sliced and index in self.spans.after_gap and self._stays(index):
            self._out.append(Piece(0, missing=max(self._lost, 1)))
        self._lost = 0

    def _stays(self, index: int) -> bool:
        verdict = self.spans.verdicts[index]
        return verdict != DROPPED and (verdict != NO_EXCHANGE or not self.sliced)

    def _take(self, ts_ns: int, piece: bytes) -> None:
        """Handle bytes of one span."""
        index = self._index
        if index is None:
            self._lost += len(piece)
            partial = self.spans.partial is not None and self._next == len(self.spans.sizes)
            if partial and not self.frame_masking.clean:
                self._held.append((ts_ns, piece))
                return
            if partial or not self.sliced:
                self._emit(ts_ns, self.frame_masking.rest(piece, min(self._shown, len(piece))))
            self._shown = max(self._shown - len(piece), 0)
            return
        verdict = self.spans.verdicts[index]
        if verdict == UNCHANGED:
            self._emit(ts_ns, piece)
        elif self._stays(index):
            self._held.append((ts_ns, piece))
        if not self._remaining:
            self._complete(index, verdict)

    def _complete(self, index: int, verdict: int) -> None:
        self._next = index + 1
        self._shown = SIZE
        if not self._stays(index):
            return
        ordinal = self._ended[index] = self._written if self.sliced else self.spans.ordinal(index)
        self._written += 1
        facts: Comment = {}
        if verdict != UNCHANGED:
            frame = b"".join(piece for _, piece in self._held)
            masked = self.frame_masking.by_verdict(frame, self.direction, verdict)
            for ts_ns, data in in_pieces(masked.data, self._held):
                self._emit(ts_ns, data)
            self._held = []
            if masked.payload:
                facts["payload"] = masked.payload
        changes = self.sliced or not self.frame_masking.clean
        if changes and self._hidden(verdict) == UNREADABLE:
            facts["unreadable"] = True  # asterisks may read as a header
        if changes and self.direction == "request" and index in self.spans.users:
            # the token with the user's name is hidden, or left out
            facts["user"] = self.spans.users[index]
        if (
            not self.frame_masking.clean
            and self.direction == "request"
            and index in self.spans.sasl
        ):
            facts["sasl"] = self.spans.sasl[index]  # its token is overwritten
        if self.sliced:
            facts |= self._otherwise_unknown(index, verdict)
        if facts:
            self._out[-1].comments.append({"frame": ordinal, **facts})

    def _hidden(self, verdict: int) -> int | None:
        """Return the API key of a request that is overwritten."""
        if verdict < MASKED or self.direction != "request":
            return None
        return self.frame_masking.kinds[verdict - MASKED][0]

    def _otherwise_unknown(self, index: int, verdict: int) -> Comment:
        """Return facts about a frame that only follow from earlier frames, if those may be left out."""
        if self._hidden(verdict) == SASL_TOKEN:
            return {"token": True}
        if index in self.spans.begun and index and not self._stays(index - 1):
            return {"begun": self.spans.begun[index]}
        return {}

    def _emit(self, ts_ns: int, data: bytes) -> None:
        last = self._out[-1] if self._out else None
        if last is None or last.comments or (last.data and last.ts_ns != ts_ns):
            last = Piece(ts_ns)
            self._out.append(last)
        last.ts_ns = ts_ns
        last.data.append(data)

    def _comment(self, chunk: Chunk, first: int) -> None:
        """Add the comments of a chunk after it; comments on a frame go with the frame."""
        comments = [self._renamed(comment, first) for comment in chunk.comments]
        retained = [comment for comment in comments if comment is not None]
        if not retained:
            return
        if not self._out or self._out[-1].ts_ns != chunk.ts_ns:
            self._out.append(Piece(chunk.ts_ns))
        self._out[-1].comments.extend(retained)

    def _renamed(self, comment: Comment, first: int) -> Comment | None:
        """Return a comment with its frame's new number; None: its frame is not written."""
        number = comment.get("frame")
        if not isinstance(number, int):
            return comment if self._out or not self.sliced else None
        index = self.spans.index(number, max(first, self._next - 1))
        # on a frame that has just ended, or the current one
        if index is None or not first <= index <= self._next or not self._stays(index):
            return None if self.sliced else comment
        ordinal = self._ended.get(index, self._written) if self.sliced else number
        self.named[number] = Named(ordinal, self.spans.verdicts[index])
        return comment if ordinal == number else {**comment, "frame": ordinal}
