"""The segments of a flow in the order of their packets, out of rows whose packet numbers may overlap."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from barnabas.pipeline.reading.tcp_segments import SEGMENT


class Row(NamedTuple):
    """A row of segments."""

    section_group: int
    ends: bytes
    path: str | None
    data: bytes | None
    segments: NDArray[np.void]


class Run(NamedTuple):
    """Some of a row's segments: no other row has one between them."""

    row: Row
    segments: NDArray[np.void]


def unpack(
    section_group: int, ends: bytes, path: str | None, data: bytes | None, packed: Any
) -> Row:
    """A row out of its columns."""
    return Row(section_group, ends, path, data, np.frombuffer(packed, SEGMENT))


def runs(rows: Iterable[Row]) -> Iterator[Run]:
    """Rows of one flow, by the number of their first packets, as runs in the order of packets.

    Only rows that lie between each other are kept at once.
    """
    coming = iter(rows)
    following = next(coming, None)
    open_rows: list[tuple[int, int, Row, int]] = []
    """(number of the next segment, a tie-breaker, row, index of that segment)."""
    count = 0
    while open_rows or following is not None:
        while following is not None and (not open_rows or _number(following, 0) < open_rows[0][0]):
            count += 1
            heapq.heappush(open_rows, (_number(following, 0), count, following, 0))
            following = next(coming, None)
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


def _number(row: Row, at: int) -> int:
    return int(row.segments["number"][at])
