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
    shrink,
)
from barnabas.experiments.clients.workloads import WORKLOADS, Workload, find

PRODUCERS = [workload for workload in WORKLOADS if workload.drawn]
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
    for name in TEXTS:
        if (workload.name, name) != ("compressed", "compression"):
            assert {getattr(each, name) for each in draws} - {getattr(base, name)}, name
    assert all(1 <= each.partitions <= 12 for each in draws)
    assert all(1 <= each.records <= max(MOST_RECORDS, workload.records) for each in draws)
    assert max(each.per_send for each in draws) > 300


def test_only_the_partitions_of_readers_are_drawn() -> None:
    group = find("group")
    drawn = [draw(seed, group) for seed in SEEDS]
    assert {each.model_copy(update={"seed": 0, "partitions": 4}) for each in drawn} == {
        plain(group)
    }
    assert {each.partitions for each in drawn} == {1, 2, 3, 4, 6, 12}
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
