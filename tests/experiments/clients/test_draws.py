"""The traffic of workloads, drawn from seeds."""

from __future__ import annotations

import pytest

from barnabas.experiments.clients.draws import (
    MOST_RECORDS,
    TEXTS,
    Draw,
    draw,
    features,
    plain,
)
from barnabas.experiments.clients.shrinking import shrink
from barnabas.experiments.clients.workloads import WORKLOADS, Workload, find

PRODUCERS = [workload for workload in WORKLOADS if workload.sends]
READERS = [workload for workload in WORKLOADS if workload.written]
OF_CONSUMERS = (
    *("history", "members", "leaves", "delay", "stall", "pauses", "rewinds", "partial"),
    *("session_ms", "poll_records", "fetch_min", "fetch_bytes"),
)
SEEDS = range(1, 200)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_the_plain_traffic_has_all_records_and_no_feature(workload: Workload) -> None:
    base = plain(workload)
    assert base.records == workload.records
    assert features(base, workload) == ()
    assert plain(workload, 7).records == 7


@pytest.mark.parametrize("workload", PRODUCERS, ids=lambda workload: workload.name)
def test_a_seed_always_draws_the_same_and_seeds_draw_each_feature(workload: Workload) -> None:
    draws = [draw(seed, workload) for seed in SEEDS]
    assert draws == [draw(seed, workload) for seed in SEEDS]
    base = plain(workload)
    absent = {
        ("compressed", "compression"),
        ("transact", "ending"),
        ("long-transactions", "ending"),
        ("long-transactions", "pause"),
    }
    for name in TEXTS:
        if name not in OF_CONSUMERS and (workload.name, name) not in absent:
            assert {getattr(each, name) for each in draws} - {getattr(base, name)}, name
    assert all(1 <= each.partitions <= 12 for each in draws)
    assert all(1 <= each.records <= max(MOST_RECORDS, workload.records) for each in draws)
    assert max(each.per_send for each in draws) > 300


@pytest.mark.parametrize("workload", READERS, ids=lambda workload: workload.name)
def test_readers_have_the_features_of_consumers_only(workload: Workload) -> None:
    draws = [draw(seed, workload) for seed in SEEDS]
    base = plain(workload)
    drawn = {
        name for name in TEXTS if {getattr(each, name) for each in draws} != {getattr(base, name)}
    }
    expected = {"partitions", "topics", "history", "moved"}
    if workload.members:
        expected |= {"members", "leaves"}
    if workload.members and not workload.copies:
        expected |= set(OF_CONSUMERS)
    if "group.protocol" in workload.settings:
        expected -= {"session_ms"}  # Java's client refuses it
    assert drawn == expected
    committed = any(each.history == "committed" for each in draws)
    assert committed == bool(workload.members)


def test_long_transactions_remain_long() -> None:
    workload = find("long-transactions")
    draws = [draw(seed, workload) for seed in SEEDS]
    assert {each.in_flight for each in draws} == {25, 50, 100}
    assert {each.pause for each in draws} == {workload.pause}


def test_a_drawn_minimum_of_bytes_has_the_usual_longest_wait() -> None:
    workload = find("group")
    for drawn in (draw(seed, workload) for seed in SEEDS):
        settings = drawn.consumer_settings
        assert ("fetch.min.bytes" in settings) == (settings.get("fetch.max.wait.ms") == 500)


def test_an_administrator_has_plain_traffic() -> None:
    assert features(draw(1, find("admin")), find("admin")) == ()


PRODUCE = find("produce")
LARGE = Draw(seed=3, sends=40, per_send=50, headers=True, topics=3, partitions=12, largest=9000)


def test_a_draw_is_shrunk_to_the_features_that_it_needs() -> None:
    def fails(drawn: Draw) -> bool:
        return drawn.topics > 1 and drawn.records >= 20

    smallest = shrink(LARGE, PRODUCE, fails, 100)
    assert features(smallest, PRODUCE) == ("2 topics",) or smallest.topics == 3
    assert not smallest.headers
    assert not smallest.largest
    assert fails(smallest)
    assert smallest.records < 40


def test_a_draw_that_fails_for_no_feature_is_shrunk_to_the_plain_one() -> None:
    assert features(shrink(LARGE, PRODUCE, lambda _: True, 100), PRODUCE) == ()


@pytest.mark.parametrize("most", [0, 1, 5])
def test_no_more_draws_are_tried_than_allowed(most: int) -> None:
    tried: list[Draw] = []

    def fails(drawn: Draw) -> bool:
        tried.append(drawn)
        return False

    assert shrink(LARGE, PRODUCE, fails, most) == LARGE
    assert len(tried) == most
