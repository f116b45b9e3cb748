"""Bands of generations."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.rebalances import Rebalances
from tests.captures.checks.groups import join, sync
from tests.captures.summary.views import sample, shown


@pytest.mark.parametrize("name", ["flapping.pcapng", "kip-848.pcapng", "rebalance.pcap.gz"])
def test_they_are_the_generations_that_summary_prints(name: str) -> None:
    exchanges, context = sample(name), Context()
    rebalances = Rebalances()
    for one in exchanges:
        rebalances.note(one)
    printed = rebalances.finish()
    bands = shown(Bands(context), context, *exchanges).rows()
    assert bands
    # a last generation in which nobody was seen is only known of when nothing is to come
    for row, band in zip(printed, bands, strict=False):
        assert {name: band[name] for name in row} == row
        if row["assignment_ms"] is not None:
            assert band["standstill_ms"] == pytest.approx(row["join_ms"] + row["assignment_ms"])
    assert [band["over"] for band in bands] == [True] * (len(bands) - 1) + [False]
    assert [band["until"] for band in bands] == [*(band["from"] for band in bands[1:]), None]


def test_partitions_that_move_in_a_classic_group() -> None:
    context = Context()
    bands = shown(Bands(context), context, *sample("flapping.pcapng")).rows()
    members = {one["from"][:4] + one["to"][:4] for band in bands[1:] for one in band["moved"]}
    assert members == {"healslow", "slowheal"}
    assert [len(band["moved"]) for band in bands] == [0, *[len(bands[1]["moved"])] * 8]


def test_partitions_that_move_in_a_group_with_epochs() -> None:
    context = Context()
    bands = shown(Bands(context), context, *sample("kip-848.pcapng")).rows()
    moves = [
        (band["generation"], one["topic"], one["partition"])
        for band in bands
        for one in band["moved"]
    ]
    assert moves == [(3, "orders", 1), (4, "orders", 1)]


def test_who_was_late_and_for_how_long() -> None:
    context = Context()
    late = (
        *(join(0, "a", 1), sync(50, "a", 1), join(200, "b", 2, took=810)),
        *(join(1000, "a", 2, took=10), sync(1020, "a", 2), sync(1030, "b", 2)),
    )
    *_, band = shown(Bands(context), context, *late).rows()
    assert band["late"] == {"kind": "late", "members": ["a"], "ms": 800.0}
    assert (band["standstill_ms"], band["over"]) == (831.0, False)


def test_the_last_bands_are_kept() -> None:
    bands = shown(
        Bands(Context(), most=2), Context(), *(join(n * 1000, "a", n) for n in range(1, 6))
    )
    assert [band["generation"] for band in bands.rows()] == [3, 4, 5]
    assert bands.forgotten == 2
