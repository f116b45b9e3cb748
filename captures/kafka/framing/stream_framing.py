"""Cuts the bytes of a captured stream into frames, each with the time at which it was complete."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.malformed import Malformed

FRAME_LIMIT: Final = 100 << 20
"""Bytes of the largest frame; a stream that announces more is no longer taken apart."""

_SIZE = struct.Struct(">i")
UNKNOWN: Final = -1 << 40
"""An ordinal that stands for none."""


@dataclass(slots=True)
class CapturedFrame:
    """A frame without its size, when its last byte was seen, and what the capture says of it."""

    ordinal: int
    """Its number in its direction, from 0; below -1: not known, since something is missing."""
    ts: int
    data: bytes
    comments: tuple[dict[str, Any], ...] = ()
    packet: int = 0
    """Number of the packet that brought its last byte; 0: not known."""
    after_gap: bool = False
    """Whether frames before it are missing."""
    place: int = 0
    """How many frames were found before it in its stream."""
    skipped: int = 0
    """Bytes before it in its stream that belong to none of them."""


class PartialFrame(NamedTuple):
    """A frame whose end did not come."""

    frame: CapturedFrame
    """What came of it, and when the last of that was seen; its place is -1."""
    size: int
    """Bytes that it was to have, without its size."""


def facts_of(frame: CapturedFrame) -> dict[str, Any]:
    """All that the comments say of a frame."""
    facts: dict[str, Any] = {}
    for comment in frame.comments:
        facts |= comment
    return facts


def head_of(data: bytes) -> RequestHead | None:
    """The head of a request without its size; None if it can't be read."""
    try:
        return request_head(data, 0, len(data))
    except (Short, Malformed):
        return None


@dataclass(slots=True)
class _Piece:
    """Bytes as they came, while the next frame is being looked for."""

    data: bytes
    ts: int
    comments: tuple[dict[str, Any], ...]
    packet: int


@dataclass(slots=True)
class Framing:
    """One direction of one flow. Behind a gap or nonsense it looks for the next frame that holds;
    without `search` it is `broken` there. What can't be taken apart is counted."""

    linked: bool = False
    """A linked flow holds some frames only; their comments say which, and end where they end."""
    search: FrameResync | None = None
    """Finds the next frame behind a gap."""
    keeps: int = 0
    """So many of the latest bytes that were passed over in search of it are kept, for `take_passed`."""
    broken: str = ""
    skipped: int = 0
    """Bytes that could not be taken apart."""
    ordinal: int = 0
    """The number of the frame that comes next; below -1: not known."""
    found: int = 0
    """How many frames were found so far."""
    _enough: int = 0
    """Bytes with which the frame that has begun is complete; 0: not known."""
    _latest: tuple[int, int] = 0, 0
    """Time and packet of the last bytes of the frame that has begun."""
    _bytes: bytearray = field(default_factory=bytearray)
    _comments: dict[int | None, list[dict[str, Any]]] = field(default_factory=dict)
    """By the number of their frame; None: of whichever comes next."""
    _seeking: list[_Piece] | None = None
    _after_gap: bool = False
    _passed: deque[_Piece] = field(default_factory=deque)
    _passed_size: int = 0

    def feed(
        self,
        data: bytes,
        ts: int,
        comments: tuple[dict[str, Any], ...] = (),
        packet: int = 0,
    ) -> Iterable[CapturedFrame]:
        """Bytes of a packet in order; `comments` stand at their end. Returns the frames that are
        complete."""
        if len(self._bytes) + len(data) < self._enough:
            self._bytes += data
            if data:
                self._latest = ts, packet
            if comments:
                self._note(comments)
            return ()
        return self._feed(_Piece(data, ts, comments, packet))

    def begun(self, count: int) -> bytearray | None:
        """Take out the bytes of the frame that has begun: who asks reads on in the `count` bytes that have
        come, hands back the rest by `keep`, and counts. None: they complete no frame, or something is known
        of those that come but their sizes: `feed` them."""
        if (
            self.linked
            or self.broken
            or self._comments
            or self._after_gap
            or self._seeking is not None
            or len(self._bytes) + count < self._enough
        ):
            return None
        begun, self._bytes, self._enough = self._bytes, bytearray(), 0
        return begun

    def keep(self, data: bytes, at: int, ts: int, packet: int) -> bool:
        """Keep the frame that has begun here until the rest of it comes. False: it is whole, or none."""
        rest = len(data) - at
        if rest >= 4:
            (size,) = _SIZE.unpack_from(data, at)
            if rest >= 4 + size or not 0 <= size <= FRAME_LIMIT:
                return False
            self._enough = 4 + size
        if rest:
            self._bytes += memoryview(data)[at:]
            self._latest = ts, packet
        return True

    def _feed(self, first: _Piece) -> Iterator[CapturedFrame]:
        todo = deque([first])
        while todo:
            piece = todo.popleft()
            if self._seeking is not None:
                todo.extendleft(reversed(self._look(piece)))
            elif self.broken:
                self.skipped += len(piece.data)
            else:
                found, readable = self._cut(piece)
                yield from found
                if not readable:
                    piece.data = bytes(self._bytes)
                    self._bytes.clear()
                    if self.search is not None and piece.data:
                        # what was no size is none: at least one byte is passed over
                        piece.data = piece.data[1:]
                        self.skipped += 1
                        self._lost()
                    todo.appendleft(piece)

    def _cut(self, piece: _Piece) -> tuple[list[CapturedFrame], bool]:
        """The frames that are complete with these bytes; False: what follows them is none."""
        data = piece.data
        if self._bytes:
            data, self._bytes = b"".join((self._bytes, data)), bytearray()
        found: list[CapturedFrame] = []
        at = self._enough = 0
        while len(data) - at >= 4:
            (size,) = _SIZE.unpack_from(data, at)
            if not 0 <= size <= FRAME_LIMIT:
                self.broken = f"a frame of {size} bytes"
                break
            if len(data) - at < 4 + size:
                self._enough = 4 + size
                break
            at += 4
            frame = CapturedFrame(self.ordinal, piece.ts, data[at : at + size], packet=piece.packet)
            frame.place, frame.skipped = self.found, self.skipped
            found.append(frame)
            self.ordinal += 1
            self.found += 1
            at += size
        self._bytes += memoryview(data)[at:]
        self._latest = piece.ts, piece.packet
        if found and self._after_gap:
            found[0].after_gap, self._after_gap = True, False
        if piece.comments:
            self._note(piece.comments)
        if self._comments:
            if self.ordinal < 0 and found and not self._bytes:
                self._number(found)
            for frame in found:
                key = None if self.linked else frame.ordinal
                frame.comments = tuple(self._comments.pop(key, ()))
        return found, not self.broken

    def _note(self, comments: tuple[dict[str, Any], ...]) -> None:
        """Comments name their frame; one that comes before its frame is complete waits for it."""
        for comment in comments:
            key = None if self.linked else comment.get("frame")
            if self.linked or isinstance(key, int):
                of = self._comments.pop(key, [])  # the one named last stands last
                of.append(comment)
                self._comments[key] = of

    def cut_off(self) -> PartialFrame | None:
        """Take out the frame that has begun: its end does not come. What is left counts as skipped. None:
        it is no frame, or not enough of one to know its size."""
        size, data = self._enough - 4, bytes(self._bytes)
        self.skipped += self.rest
        self._bytes.clear()
        self._enough = 0
        if self._seeking is not None:
            self._seeking = []
        if size < 0:
            return None
        ts, packet = self._latest
        comments = tuple(self._comments.pop(self.ordinal, ()))
        frame = CapturedFrame(self.ordinal, ts, data[4:], comments, packet, place=-1)
        return PartialFrame(frame, size)

    def lose(self, count: int) -> None:
        """Bytes are missing, or an unknown number of them (0): where the next frame begins is not
        known."""
        self.cut_off()
        if self.search is not None:
            self._lost()
        else:
            self.broken = self.broken or f"{count} bytes are missing"

    @property
    def missing(self) -> int:
        """Bytes that the frame which has begun still needs; 0: not known."""
        return max(0, self._enough - len(self._bytes))

    @property
    def rest(self) -> int:
        """Bytes of a frame that is not complete, or in which none was found yet."""
        return len(self._bytes) + sum(len(piece.data) for piece in self._seeking or ())

    def _lost(self) -> None:
        assert self.search is not None  # noqa: S101
        self.search.clear()
        self._seeking = []
        self.take_passed()
        self.ordinal = UNKNOWN
        self._comments.clear()

    def _look(self, piece: _Piece) -> list[_Piece]:
        """Go on looking for a frame. What came before it is skipped; it and the rest are returned."""
        assert self._seeking is not None and self.search is not None  # noqa: S101, PT018
        self._seeking.append(piece)
        offset, found = self.search.feed(piece.data)
        self.skipped += offset
        while self._seeking and offset >= len(self._seeking[0].data):
            offset -= len(self._seeking[0].data)
            self._pass(self._seeking.pop(0))
        if self._seeking:
            first = self._seeking[0]
            self._pass(replace(first, data=first.data[:offset]))
            first.data = first.data[offset:]
        if not found:
            return []
        pieces, self._seeking = self._seeking, None
        self.broken, self._after_gap = "", True
        return pieces

    def _pass(self, piece: _Piece) -> None:
        """Keep what was passed over, as long as it is not too much."""
        if not self.keeps:
            return
        self._passed.append(piece)
        self._passed_size += len(piece.data)
        while self._passed_size > self.keeps:
            self._passed_size -= len(self._passed.popleft().data)

    def take_passed(self) -> tuple[bytes, list[tuple[int, int, int]]]:
        """What was passed over before the latest frame behind a gap, and of what it came in: where that
        ends in it, its time and packet."""
        data = b"".join(piece.data for piece in self._passed)
        ends: list[tuple[int, int, int]] = []
        for piece in self._passed:
            ends.append(((ends[-1][0] if ends else 0) + len(piece.data), piece.ts, piece.packet))
        self._passed.clear()
        self._passed_size = 0
        return data, ends

    def _number(self, found: list[CapturedFrame]) -> None:
        """A comment that stands at the end of a frame says its number."""
        number = next(reversed(self._comments))
        if number is not None:
            self.ordinal = number + 1
            for back, frame in enumerate(reversed(found), 1):
                frame.ordinal = self.ordinal - back
