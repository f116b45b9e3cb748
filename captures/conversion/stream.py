"""One direction of an arrived flow, rewritten for another capture, without the frames that are not wanted.

Bytes are written as they come. A frame in which something is to be hidden waits until it is whole, and is
written in the pieces in which it came, each with its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.captures.conversion.hiding import SIZE, Hiding
from barnabas.captures.conversion.spans import DROPPED, KEPT, MASKED, NOBODYS, Spans
from barnabas.captures.kafka.exchange import SASL_TOKEN, UNREADABLE
from barnabas.captures.tcp.events import Chunk
from barnabas.specs.frames import Direction

Comment = dict[str, Any]


class Named(NamedTuple):
    """A frame that a comment stands on: its number in the capture that is written, and the verdict."""

    ordinal: int
    verdict: int


@dataclass(slots=True)
class Piece:
    """Bytes to write with the comments that stand behind them, and how many are missing in front."""

    ts_ns: int
    data: list[bytes] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    missing: int = 0


def as_it_came(data: bytes, held: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """What was masked, in the pieces in which it was held, each with its time."""
    at = 0
    for ts_ns, piece in held:
        yield ts_ns, data[at : at + len(piece)]
        at += len(piece)


@dataclass(slots=True)
class Stream:
    """What is written of a stream. In a slice, frames that are wanted follow each other and are
    numbered anew; else everything stays where it was."""

    direction: Direction
    spans: Spans
    hiding: Hiding
    sliced: bool
    named: dict[int, Named] = field(default_factory=dict)
    """By their former number: frames with comments."""
    _walk: Iterator[tuple[int | None, int]] = field(init=False)
    _place: int | None = None
    _remaining: int = 0
    """Bytes until the present frame, or what is none, ends."""
    _next: int = 0
    """The place of the first frame that is not complete."""
    _shown: int = SIZE
    """Bytes that may be a frame's size, if those that come belong to none."""
    _lost: int = 0
    """Bytes that are missing or belong to no frame, since the last one."""
    _written: int = 0
    """Frames that were written."""
    _ended: dict[int, int] = field(default_factory=dict)
    """By place: new numbers of the frames that the present chunk completes."""
    _held: list[tuple[int, bytes]] = field(default_factory=list)
    _out: list[Piece] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._walk = self.spans.walk()

    def take(self, chunk: Chunk) -> list[Piece]:
        """What is to be written when a chunk has come."""
        self._out, self._ended = [], {}
        at, size = 0, len(chunk.data)
        first = self._next
        while at < size:
            if not self._remaining:
                self._place, self._remaining = next(self._walk)
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
        """Bytes are missing, and in what is written, too, unless it is a slice."""
        self._shown = 0
        self._lost += count or 1  # 0: nobody knows how many
        return [] if self.sliced else [Piece(ts_ns, missing=count or 1)]

    def end(self) -> list[Piece]:
        """Nothing more will come: what is left is a frame of which the end is missing."""
        self._out = []
        if self._held and self.spans.partial is not None:
            begun = b"".join(piece for _, piece in self._held)
            data = self.hiding.partial(begun, self.direction, self.spans.partial)
            for ts_ns, piece in as_it_came(data, self._held):
                self._emit(ts_ns, piece)
        return self._out

    def _begin(self) -> None:
        """A frame begins, or something that is none."""
        place = self._place
        if place is None:
            return
        if self.sliced and place in self.spans.behind_gap and self._kept(place):
            self._out.append(Piece(0, missing=max(self._lost, 1)))
        self._lost = 0

    def _kept(self, place: int) -> bool:
        verdict = self.spans.verdicts[place]
        return verdict != DROPPED and (verdict != NOBODYS or not self.sliced)

    def _take(self, ts_ns: int, piece: bytes) -> None:
        """Bytes of one frame, or of none."""
        place = self._place
        if place is None:
            self._lost += len(piece)
            partial = self.spans.partial is not None and self._next == len(self.spans.sizes)
            if partial and not self.hiding.clean:
                self._held.append((ts_ns, piece))
                return
            if partial or not self.sliced:
                self._emit(ts_ns, self.hiding.rest(piece, min(self._shown, len(piece))))
            self._shown = max(self._shown - len(piece), 0)
            return
        verdict = self.spans.verdicts[place]
        if verdict == KEPT:
            self._emit(ts_ns, piece)
        elif self._kept(place):
            self._held.append((ts_ns, piece))
        if not self._remaining:
            self._complete(place, verdict)

    def _complete(self, place: int, verdict: int) -> None:
        self._next = place + 1
        self._shown = SIZE
        if not self._kept(place):
            return
        ordinal = self._ended[place] = self._written if self.sliced else self.spans.ordinal(place)
        self._written += 1
        facts: Comment = {}
        if verdict != KEPT:
            frame = b"".join(piece for _, piece in self._held)
            masked = self.hiding.judged(frame, self.direction, verdict)
            for ts_ns, data in as_it_came(masked.data, self._held):
                self._emit(ts_ns, data)
            self._held = []
            if masked.payload:
                facts["payload"] = masked.payload
        changes = self.sliced or not self.hiding.clean
        if changes and self._hidden(verdict) == UNREADABLE:
            facts["unreadable"] = True  # asterisks may read as a header
        if changes and self.direction == "request" and place in self.spans.users:
            # the token that names him is hidden, or left out
            facts["user"] = self.spans.users[place]
        if not self.hiding.clean and self.direction == "request" and place in self.spans.sasl:
            facts["sasl"] = self.spans.sasl[place]  # its token can't be read any more
        if self.sliced:
            facts |= self._otherwise_unknown(place, verdict)
        if facts:
            self._out[-1].comments.append({"frame": ordinal, **facts})

    def _hidden(self, verdict: int) -> int | None:
        """The key of a request that is overwritten."""
        if verdict < MASKED or self.direction != "request":
            return None
        return self.hiding.kinds[verdict - MASKED][0]

    def _otherwise_unknown(self, place: int, verdict: int) -> Comment:
        """What the frames in front of one say of it, where they may be left out."""
        if self._hidden(verdict) == SASL_TOKEN:
            return {"token": True}
        if place in self.spans.begun and place and not self._kept(place - 1):
            return {"begun": self.spans.begun[place]}
        return {}

    def _emit(self, ts_ns: int, data: bytes) -> None:
        last = self._out[-1] if self._out else None
        if last is None or last.comments or (last.data and last.ts_ns != ts_ns):
            last = Piece(ts_ns)
            self._out.append(last)
        last.ts_ns = ts_ns
        last.data.append(data)

    def _comment(self, chunk: Chunk, first: int) -> None:
        """Comments stand behind a chunk; those on a frame go where that goes."""
        found = [self._renamed(comment, first) for comment in chunk.comments]
        mine = [comment for comment in found if comment is not None]
        if not mine:
            return
        if not self._out or self._out[-1].ts_ns != chunk.ts_ns:
            self._out.append(Piece(chunk.ts_ns))
        self._out[-1].comments.extend(mine)

    def _renamed(self, comment: Comment, first: int) -> Comment | None:
        """A comment as it stands on the same frame in what is written; None: that is not."""
        number = comment.get("frame")
        if not isinstance(number, int):
            return comment if self._out or not self.sliced else None
        place = self.spans.place(number, max(first, self._next - 1))
        # on a frame that has just ended, or one that is under way
        if place is None or not first <= place <= self._next or not self._kept(place):
            return None if self.sliced else comment
        ordinal = self._ended.get(place, self._written) if self.sliced else number
        self.named[number] = Named(ordinal, self.spans.verdicts[place])
        return comment if ordinal == number else {**comment, "frame": ordinal}
