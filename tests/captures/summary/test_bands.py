"""Test generations of groups, and their bands."""

from __future__ import annotations

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.summary.bands import Bands
from barnabas.captures.summary.rebalances import Rebalances, Row
from tests.captures.checks import test_generations as reasons
from tests.captures.checks.given import S
from tests.captures.checks.groups import join, sync
from tests.captures.summary.views import sample, shown


def generations(name: str) -> list[Row]:
    rebalances = Rebalances()
    for exchange in sample(name):
        rebalances.note(exchange)
    return rebalances.finish()


@pytest.mark.parametrize("name", ["flapping.pcapng", "kip-848.pcapng", "rebalance.pcap.gz"])
def test_they_are_the_generations_that_summary_prints(name: str) -> None:
    printed, context = generations(name), Context()
    bands = shown(Bands(context), context, *sample(name)).rows()
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


def test_a_band_ends_where_the_next_one_of_its_group_begins() -> None:
    joins = [
        join(at, "a", number, group=group)
        for at, (group, number) in enumerate([("g", 1), ("h", 1), ("g", 2), ("h", 2)])
    ]
    bands = shown(Bands(Context()), Context(), *joins).rows()
    assert [(band["group"], band["generation"]) for band in bands] == [
        ("g", 1), ("g", 2), ("h", 1), ("h", 2),
    ]  # fmt: skip
    untils = [bands[1]["from"], None, bands[3]["from"], None]
    assert [band["until"] for band in bands] == untils


def test_the_last_bands_are_kept() -> None:
    bands = shown(
        Bands(Context(), most=2), Context(), *(join(n * 1000, "a", n) for n in range(1, 6))
    )
    assert [band["generation"] for band in bands.rows()] == [3, 4, 5]
    assert bands.forgotten == 2


def test_a_group_that_flaps() -> None:
    """Java 4.3.1: one member works for 3 s with a max.poll.interval.ms of 1.5 s."""
    found = generations("flapping.pcapng")
    told = [(row["generation"], row["members"], row["why"]) for row in found]
    assert sorted(told) == sorted(
        [
            (1, 1, "healthy joined"),
            (2, 2, "slow joined"),
            *((number, 1, f"slow left: {reasons.EXPIRED}") for number in (3, 5, 7, 9)),
            *((number, 2, "slow came back") for number in (4, 6, 8)),
            (10, 0, "healthy left: the consumer is being closed"),
        ]
    )
    assert [row["generation"] for row in found] == [*range(1, 11)]
    assert {row["leader"] for row in found[:-1]} == {"healthy"}
    assert found[3]["waited_for"] == "healthy, notified after 386 ms"


def test_the_last_rows_are_kept_and_all_are_counted() -> None:
    rebalances = Rebalances(most=2)
    for number in range(1, 6):
        rebalances.note(join(number * S, "a", number, leader="a", members=("a",)))
    assert [row["generation"] for row in rebalances.finish()] == [4, 5]
    assert rebalances.count == 5
