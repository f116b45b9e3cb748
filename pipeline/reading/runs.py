"""The segments of a flow in packet order, from rows whose packet numbers may overlap."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.pipeline.reading.tcp_segments import SEGMENT


class SegmentRow(NamedTuple):
    """A row of segments."""

    section_group: int
    ends: bytes
    path: str | None
    data: bytes | None
    segments: NDArray[np.void]


class Run(NamedTuple):
    """Some of a row's segments; no other row has a segment between them."""

    row: SegmentRow
    segments: NDArray[np.void]


def unpack(
    section_group: int, ends: bytes, path: str | None, data: bytes | None, packed: Any
) -> SegmentRow:
    """Return a row made of its columns."""
    return SegmentRow(section_group, ends, path, data, np.frombuffer(packed, SEGMENT))


def runs(rows: Iterable[SegmentRow]) -> Iterator[Run]:
    """Yield runs in packet order, from the rows of one flow ordered by first packet.

    Only rows whose packet numbers overlap are retained at once.
    """
    remaining = iter(rows)
    following = next(remaining, None)
    open_rows: list[tuple[int, int, SegmentRow, int]] = []
    """(number of the next segment, a tie-breaker, row, index of that segment)."""
    count = 0
    while open_rows or following is not None:
        while following is not None and (not open_rows or _number(following, 0) < open_rows[0][0]):
            count += 1
            heapq.heappush(open_rows, (_number(following, 0), count, following, 0))
            following = next(remaining, None)
        _, tie, row, at = heapq.heappop(open_rows)
        limits = [entry[0] for entry in open_rows[:1]]
        if following is not None:
            limits.append(_number(following, 0))
        if limits:
            end = at + int(np.searchsorted(row.segments["number"][at:], min(limits)))
        else:
            end = len(row.segments)
        end = max(end, at + 1)
        yield Run(row, row.segments[at:end])
        if end < len(row.segments):
            heapq.heappush(open_rows, (_number(row, end), tie, row, end))


def _number(row: SegmentRow, at: int) -> int:
    return int(row.segments["number"][at])
