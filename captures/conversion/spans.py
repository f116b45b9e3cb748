"""What one direction of a connection consists of, and what is to become of each frame.

8 bytes a frame: a capture has as many as its size allows.
"""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.framing.stream_framing import CapturedFrame

NOBODYS: Final = 0
"""The verdict on a frame that belongs to no exchange."""
DROPPED: Final = 1
"""Its exchange is not wanted."""
KEPT: Final = 2
"""It stays as it is."""
MASKED: Final = 3
"""From here on: it stays, but something in it is to be hidden."""

REST: Final = 1 << 62
"""Bytes of what stands behind the last frame: as many as come."""


@dataclass(slots=True)
class Spans:
    """The frames of a stream, by place, and the bytes between them that belong to none."""

    sizes: array[int] = field(default_factory=lambda: array("I"))
    """With the size prefix."""
    verdicts: array[int] = field(default_factory=lambda: array("I"))
    between: dict[int, int] = field(default_factory=dict)
    """By place: bytes in front of a frame that belong to none."""
    behind_gap: set[int] = field(default_factory=set)
    """Places in front of which frames are missing."""
    begun: dict[int, int] = field(default_factory=dict)
    """By place: `Exchange.begun` of responses."""
    users: dict[int, str | None] = field(default_factory=dict)
    """By place: `Exchange.user` of requests that are wanted, where it is another than of the one before."""
    sasl: dict[int, str] = field(default_factory=dict)
    """By place: `Exchange.sasl` of requests that are wanted."""
    partial: int | None = None
    """Key of the exchange, if it is wanted, whose frame stands at the end in part."""
    _runs: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    """(place, ordinal): from there on they count alike."""
    _skipped: int = 0

    def add(self, frame: CapturedFrame) -> None:
        """The next frame."""
        place = len(self.sizes)
        self.sizes.append(4 + len(frame.data))
        self.verdicts.append(NOBODYS)
        if frame.skipped != self._skipped:
            self.between[place] = frame.skipped - self._skipped
            self._skipped = frame.skipped
        if frame.after_gap:
            self.behind_gap.add(place)
        if frame.ordinal != self.ordinal(place):
            self._runs.append((place, frame.ordinal))

    def walk(self) -> Iterator[tuple[int | None, int]]:
        """(place, or None if it is no frame; bytes) of all that the stream consists of, in order."""
        for place, size in enumerate(self.sizes):
            if place in self.between:
                yield None, self.between[place]
            yield place, size
        yield None, REST

    def ordinal(self, place: int) -> int:
        """The number that comments know a frame by."""
        begun, ordinal = self._runs[self._run(place)]
        return ordinal + place - begun

    def place(self, ordinal: int, near: int) -> int | None:
        """The place of a frame that a comment names, which stands near this place."""
        run = self._run(near)
        for begun, first in self._runs[max(run - 1, 0) : run + 2][::-1]:
            place = begun + ordinal - first
            if begun <= place < len(self.sizes) and self.ordinal(place) == ordinal:
                return place
        return None

    def _run(self, place: int) -> int:
        return bisect.bisect_right(self._runs, place, key=lambda run: run[0]) - 1
