"""Store the frames of one direction of a connection, with the verdict on each.

It takes 8 bytes for each frame, since a capture may have as many as its size allows.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.framing.stream_framing import CapturedFrame

NO_EXCHANGE: Final = 0
"""The verdict on a frame without an exchange."""
DROPPED: Final = 1
"""The verdict on a frame whose exchange is not selected."""
UNCHANGED: Final = 2
"""The verdict on a frame that stays unchanged."""
MASKED: Final = 3
"""Verdicts from here on: the frame stays, but parts of it are masked."""

REST: Final = 1 << 62
"""The span after the last frame, of any size."""


@dataclass(slots=True)
class Spans:
    """The frames of a stream by index, and the bytes between them that belong to none."""

    sizes: array[int] = field(default_factory=lambda: array("I"))
    """Bytes of each frame with the size prefix."""
    verdicts: array[int] = field(default_factory=lambda: array("I"))
    between: dict[int, int] = field(default_factory=dict)
    """By index: bytes before a frame that belong to none."""
    after_gap: set[int] = field(default_factory=set)
    """Indexes of frames before which frames are missing."""
    begun: dict[int, int] = field(default_factory=dict)
    """By index: `Exchange.begun` of responses."""
    users: dict[int, str | None] = field(default_factory=dict)
    """By index: `Exchange.user` of selected requests, where it changes."""
    sasl: dict[int, str] = field(default_factory=dict)
    """By index: `Exchange.sasl` of selected requests."""
    partial: int | None = None
    """The API key of a selected exchange whose frame at the end is incomplete."""
    _runs: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    """(index, ordinal): from there on they increase alike."""
    _skipped: int = 0

    def add(self, frame: CapturedFrame) -> None:
        """Add the next frame."""
        index = len(self.sizes)
        self.sizes.append(4 + len(frame.data))
        self.verdicts.append(NO_EXCHANGE)
        if frame.skipped != self._skipped:
            self.between[index] = frame.skipped - self._skipped
            self._skipped = frame.skipped
        if frame.after_gap:
            self.after_gap.add(index)
        if frame.ordinal != self.ordinal(index):
            self._runs.append((index, frame.ordinal))

    def walk(self) -> Iterator[tuple[int | None, int]]:
        """Yield the spans of the stream in order: index (None for bytes outside frames), and size."""
        for index, size in enumerate(self.sizes):
            if index in self.between:
                yield None, self.between[index]
            yield index, size
        yield None, REST

    def ordinal(self, index: int) -> int:
        """Return the number by which comments name a frame."""
        begun, ordinal = self._runs[self._run(index)]
        return ordinal + index - begun

    def index(self, ordinal: int, near: int) -> int | None:
        """Return the index of a frame that a comment names, near an index."""
        run = self._run(near)
        for begun, first in self._runs[max(run - 1, 0) : run + 2][::-1]:
            index = begun + ordinal - first
            if begun <= index < len(self.sizes) and self.ordinal(index) == ordinal:
                return index
        return None

    def _run(self, index: int) -> int:
        return bisect.bisect_right(self._runs, index, key=lambda run: run[0]) - 1
