"""Rows that lie between each other come as runs in the order of packets, few of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from barnabas.pipeline.reading.runs import Row, runs
from barnabas.pipeline.reading.tcp_segments import SEGMENT


def row(numbers: list[int]) -> Row:
    segments = np.zeros(len(numbers), SEGMENT)
    segments["number"] = numbers
    return Row(0, b"", None, None, segments)


@given(count=st.integers(1, 60), rows=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_all_segments_come_in_order(count: int, rows: int, seed: int) -> None:
    random = Random(seed)
    shares: list[list[int]] = [[] for _ in range(rows)]
    for number in range(count):
        random.choice(shares).append(number)
    found = sorted(
        (row(share) for share in shares if share), key=lambda one: int(one.segments["number"][0])
    )
    numbers = [number for run in runs(found) for number in run.segments["number"].tolist()]
    assert numbers == list(range(count))


def test_a_row_is_asked_for_only_when_it_is_needed() -> None:
    asked = []

    def coming() -> Iterator[Row]:
        for first in range(0, 100, 10):
            asked.append(first)
            yield row(list(range(first, first + 10)))

    for run in runs(coming()):
        assert len(asked) <= run.segments["number"][0] // 10 + 2
    assert len(asked) == 10
