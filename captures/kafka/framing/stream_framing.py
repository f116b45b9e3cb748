"""Cut the bytes of a captured stream into frames, each with the time at which it was complete."""

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
"""Bytes of the largest frame; after a larger size, the stream is not cut any further."""

_SIZE = struct.Struct(">i")
UNKNOWN: Final = -1 << 40
"""The number of a frame whose number is unknown."""


@dataclass(slots=True)
class CapturedFrame:
    """A frame without its size, the time of its last byte, and the comments on it."""

    ordinal: int
    """Its number in its direction, from 0; below -1: unknown, since bytes are missing."""
    ts: int
    data: bytes
    comments: tuple[dict[str, Any], ...] = ()
    packet: int = 0
    """Number of the packet with its last byte; 0: unknown."""
    after_gap: bool = False
    """Whether frames before it are missing."""
    place: int = 0
    """Frames found before it in its stream."""
    skipped: int = 0
    """Bytes before it in its stream that belong to no frame."""


class PartialFrame(NamedTuple):
    """A frame whose end never arrived."""

    frame: CapturedFrame
    """The bytes that arrived, with the time of the last one; its place is -1."""
    size: int
    """Bytes of the whole frame, without its size."""


def facts_of(frame: CapturedFrame) -> dict[str, Any]:
    """Return the merged comments on a frame."""
    facts: dict[str, Any] = {}
    for comment in frame.comments:
        facts |= comment
    return facts


def head_of(data: bytes) -> RequestHead | None:
    """Return the header of a request without its size; None if it is unreadable."""
    try:
        return request_head(data, 0, len(data))
    except (Short, Malformed):
        return None


@dataclass(slots=True)
class _Piece:
    """Bytes as they arrived, while the next frame is searched for."""

    data: bytes
    ts: int
    comments: tuple[dict[str, Any], ...]
    packet: int


@dataclass(slots=True)
class Framing:
    """The framing of one direction of one flow.

    After a gap or an invalid size it searches for the next plausible frame; without `search` it is `broken`
    there. Bytes that can't be cut into frames are counted.
    """

    linked: bool = False
    """Whether this is a linked flow: it has only some frames, and the comments identify them and mark their
    ends."""
    search: FrameResync | None = None
    """Finds the next frame after a gap."""
    keeps: int = 0
    """Bytes skipped in the search that are retained, the latest ones, for `take_passed`."""
    broken: str = ""
    skipped: int = 0
    """Bytes that could not be cut into frames."""
    ordinal: int = 0
    """The number of the next frame; below -1: unknown."""
    frame_count: int = 0
    """Frames found so far."""
    _enough: int = 0
    """Bytes that complete the current frame, with its size; 0: unknown."""
    _latest: tuple[int, int] = 0, 0
    """Time and packet of the last bytes of the current frame."""
    _bytes: bytearray = field(default_factory=bytearray)
    _comments: dict[int | None, list[dict[str, Any]]] = field(default_factory=dict)
    """By the number of their frame; None: the next frame."""
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
        """Add the bytes of a packet, and return the frames that they complete.

        `comments` belong to their end.
        """
        if len(self._bytes) + len(data) < self._enough:
            self._bytes += data
            if data:
                self._latest = ts, packet
            if comments:
                self._note(comments)
            return ()
        return self._feed(_Piece(data, ts, comments, packet))

    def begun(self, count: int) -> bytearray | None:
        """Take out the bytes of the current frame, for a caller that cuts the next `count` bytes itself.

        The caller returns the rest by `keep`, and counts the frames. None: `feed` the bytes, since they
        complete no frame, or comments or gaps apply to them.
        """
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
        """Store the incomplete frame at an offset until the rest arrives.

        False: the frame is whole, or its size is invalid.
        """
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
                frames, readable = self._cut(piece)
                yield from frames
                if not readable:
                    piece.data = bytes(self._bytes)
                    self._bytes.clear()
                    if self.search is not None and piece.data:
                        # the size is invalid, so skip at least its first byte
                        piece.data = piece.data[1:]
                        self.skipped += 1
                        self._lost()
                    todo.appendleft(piece)

    def _cut(self, piece: _Piece) -> tuple[list[CapturedFrame], bool]:
        """Return the frames that these bytes complete; False: an invalid size follows them."""
        data = piece.data
        if self._bytes:
            data, self._bytes = b"".join((self._bytes, data)), bytearray()
        frames: list[CapturedFrame] = []
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
            frame.place, frame.skipped = self.frame_count, self.skipped
            frames.append(frame)
            self.ordinal += 1
            self.frame_count += 1
            at += size
        self._bytes += memoryview(data)[at:]
        self._latest = piece.ts, piece.packet
        if frames and self._after_gap:
            frames[0].after_gap, self._after_gap = True, False
        if piece.comments:
            self._note(piece.comments)
        if self._comments:
            if self.ordinal < 0 and frames and not self._bytes:
                self._number(frames)
            for frame in frames:
                key = None if self.linked else frame.ordinal
                frame.comments = tuple(self._comments.pop(key, ()))
        return frames, not self.broken

    def _note(self, comments: tuple[dict[str, Any], ...]) -> None:
        """Store comments, which name their frame, until the frame is complete."""
        for comment in comments:
            key = None if self.linked else comment.get("frame")
            if self.linked or isinstance(key, int):
                frame_comments = self._comments.pop(key, [])  # keep the latest frame last
                frame_comments.append(comment)
                self._comments[key] = frame_comments

    def cut_off(self) -> PartialFrame | None:
        """Take out the current frame, whose end will not arrive, and count its bytes as skipped.

        None: there is none, or too little of it to know its size.
        """
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
        """Note missing bytes (0: an unknown number), after which the next frame must be searched for."""
        self.cut_off()
        if self.search is not None:
            self._lost()
        else:
            self.broken = self.broken or f"{count} bytes are missing"

    @property
    def missing(self) -> int:
        """Return the bytes that complete the current frame; 0: unknown."""
        return max(0, self._enough - len(self._bytes))

    @property
    def rest(self) -> int:
        """Return the bytes of the incomplete frame, or in which no frame was found yet."""
        return len(self._bytes) + sum(len(piece.data) for piece in self._seeking or ())

    def _lost(self) -> None:
        assert self.search is not None  # noqa: S101
        self.search.clear()
        self._seeking = []
        self.take_passed()
        self.ordinal = UNKNOWN
        self._comments.clear()

    def _look(self, piece: _Piece) -> list[_Piece]:
        """Search for a frame. Bytes before it are skipped; the frame and the rest are returned."""
        assert self._seeking is not None and self.search is not None  # noqa: S101, PT018
        self._seeking.append(piece)
        offset, begins = self.search.feed(piece.data)
        self.skipped += offset
        while self._seeking and offset >= len(self._seeking[0].data):
            offset -= len(self._seeking[0].data)
            self._pass(self._seeking.pop(0))
        if self._seeking:
            first = self._seeking[0]
            self._pass(replace(first, data=first.data[:offset]))
            first.data = first.data[offset:]
        if not begins:
            return []
        pieces, self._seeking = self._seeking, None
        self.broken, self._after_gap = "", True
        return pieces

    def _pass(self, piece: _Piece) -> None:
        """Retain skipped bytes up to a limit."""
        if not self.keeps:
            return
        self._passed.append(piece)
        self._passed_size += len(piece.data)
        while self._passed_size > self.keeps:
            self._passed_size -= len(self._passed.popleft().data)

    def take_passed(self) -> tuple[bytes, list[tuple[int, int, int]]]:
        """Return the bytes skipped before the latest frame after a gap, with the pieces that brought them.

        Each piece is its end in the bytes, its time, and its packet number.
        """
        data = b"".join(piece.data for piece in self._passed)
        ends: list[tuple[int, int, int]] = []
        for piece in self._passed:
            ends.append(((ends[-1][0] if ends else 0) + len(piece.data), piece.ts, piece.packet))
        self._passed.clear()
        self._passed_size = 0
        return data, ends

    def _number(self, frames: list[CapturedFrame]) -> None:
        """Assign numbers to frames by the comment at the end of the last one."""
        number = next(reversed(self._comments))
        if number is not None:
            self.ordinal = number + 1
            for back, frame in enumerate(reversed(frames), 1):
                frame.ordinal = self.ordinal - back
