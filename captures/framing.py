"""Frames out of a captured stream: which bytes belong together, when they were complete."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

FRAME_LIMIT: Final = 100 << 20
"""Bytes of the largest frame; a stream that announces more is no longer taken apart."""


@dataclass(slots=True)
class CapturedFrame:
    """A frame without its size, when its last byte was seen, and what the capture says of it."""

    ordinal: int
    ts: int
    data: bytes
    comments: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True)
class Framing:
    """One direction of one flow. After a gap or nonsense it is `broken`, and the rest is counted."""

    linked: bool = False
    """A linked flow holds some frames only; their comments say which, and end where they end."""
    broken: str = ""
    skipped: int = 0
    """Bytes that could not be taken apart."""
    _ordinal: int = 0
    _bytes: bytearray = field(default_factory=bytearray)
    _comments: list[dict[str, Any]] = field(default_factory=list)

    def feed(
        self, data: bytes, ts: int, comments: tuple[dict[str, Any], ...] = ()
    ) -> Iterator[CapturedFrame]:
        """Bytes in order; `comments` stand at their end. Yields the frames that are complete."""
        if self.broken:
            self.skipped += len(data)
            return
        self._bytes += data
        found: list[CapturedFrame] = []
        at = 0
        while len(self._bytes) - at >= 4:
            (size,) = struct.unpack_from(">i", self._bytes, at)
            if not 0 <= size <= FRAME_LIMIT:
                self.broken = f"a frame of {size} bytes"
                break
            if len(self._bytes) - at < 4 + size:
                break
            with memoryview(self._bytes) as view:
                body = bytes(view[at + 4 : at + 4 + size])  # copied once
            found.append(CapturedFrame(self._ordinal, ts, body))
            self._ordinal += 1
            at += 4 + size
        del self._bytes[:at]
        # comments name their frame; one that came before its frame was complete waits for it
        self._comments += comments
        for frame in found:
            mine = [c for c in self._comments if self.linked or c.get("frame") == frame.ordinal]
            self._comments = [c for c in self._comments if c not in mine]
            frame.comments = tuple(mine)
        if self.broken:
            self.skipped += len(self._bytes)
            self._bytes.clear()
        yield from found

    def lose(self, count: int) -> None:
        """Bytes are missing: where the next frame begins is not known."""
        self.broken = self.broken or f"{count} bytes are missing"
        self.skipped += len(self._bytes)
        self._bytes.clear()

    @property
    def rest(self) -> int:
        """Bytes of a frame that is not complete."""
        return len(self._bytes)
