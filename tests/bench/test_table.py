"""The arithmetic of the bench; nothing is timed here."""

from __future__ import annotations

import pytest

from bench.contestants import differs
from bench.load import Result
from bench.proxies import Cell


def test_a_cell_shows_medians_and_cpu_of_all_rounds() -> None:
    cell = Cell()
    for seconds, cpu in ((1.0, 0.5), (2.0, 0.5), (4.0, 1.0)):
        cell.add(Result(seconds, 1_000_000_000, [0.1, 0.2, 0.3]), cpu)
    assert cell.figures() == {
        "bytes_per_second": 5e8,
        "p50_seconds": 0.2,
        "p99_seconds": 0.3,
        "cpu_seconds_per_gb": pytest.approx(2.0 / 3.0),
    }


def test_a_difference_is_named() -> None:
    mine = {"topics": [{"name": "a", "operations": -(2**31)}]}
    assert differs(mine, {"topics": ({"name": "a", "operations": None},)}) is None
    assert differs(mine, {"topics": ({"name": "b"},)}) == "topics[0].name is 'b', not 'a'"
    assert (
        differs(mine, {"topics": []})
        == "topics is [], not [{'name': 'a', 'operations': -2147483648}]"
    )
