"""Results are written by pure functions: what they say follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.written import pipelined_order, pipelined_queues, pipelined_throughput
from experiments.written.contents import EXPERIMENTS, experiment
from peers.apache.versions import release


def run(arm: str, latency: int, seconds: float, *, in_order: bool = True) -> dict[str, Any]:
    return {
        "version": "0.8.2.2",
        "latency": latency,
        "arm": arm,
        "seconds": seconds,
        "messages": 100,
        "in_order": in_order,
        "problems": {},
        "requests": 10,
        "in_flight": 1,
        "in_flight_total": 2,
    }


def throughput(**last: Any) -> dict[str, Any]:
    arms = [arm for arm, _ in pipelined_throughput.ARMS]
    runs = [run(arm, latency, 1.0) for arm in arms for latency in (0, 20)]
    runs += [run(arms[0], 20, 4.0), run(arms[0], 20, 5.0), {**run(arms[1], 20, 1.0), **last}]
    how = {"versions": ["0.8.2.2"], "latencies": [0, 20], "messages": 100, "rounds": 1}
    return {
        "how": {**how, "partitions": 4, "batch": 10, "brokers": 2},
        "runs": runs,
        "drawn": {"0.8.2.2: x": [[0.0, 5.0, 1, "Produce #1", "answer to #1"]]},
    }


def test_throughput_is_a_median_and_a_ratio() -> None:
    text = pipelined_throughput.write(throughput())
    # 100, 25 and 20 messages a second
    assert "| blocking 0.8 | 100 (100-100) | 25 (20-100) | 1 of a connection, 2 in all |" in text
    assert "At 20 ms, against the blocking producer: 4.0 times (pipelined, 1 in flight)" in text
    assert "in 13 of 13 runs each partition has its messages in the order" in text
    assert "client->>b1: 0.0 ms: Produce #1" in text


def test_throughput_says_where_order_or_messages_were_lost() -> None:
    text = pipelined_throughput.write(throughput(in_order=False, problems={"expired": 3}))
    assert "in 12 of 13 runs" in text
    assert "3 messages were not acknowledged" in text


@pytest.mark.parametrize("broken", [0, 2])
def test_order_counts_the_runs_in_which_it_broke(broken: int) -> None:
    runs = [
        {
            "case": case,
            "arm": arm,
            "in_order": not (number < broken and arm.endswith("5 in flight")),
            "in_flight": 5,
            "refused": 3,
            "problems": {},
        }
        for case, _ in pipelined_order.CASES
        for arm, _ in pipelined_order.ARMS
        for number in range(4)
    ]
    text = pipelined_order.write({"how": {"messages": 9, "rounds": 4}, "runs": runs})
    assert ("it was never broken" in text) == (not broken)
    assert ("pipelined, 5 in flight, every tenth refused: broken in 2 of 4 runs" in text) == bool(
        broken
    )
    assert "| blocking 0.8 | every tenth refused | 4 of 4 | 5 | 12 | 0 |" in text


def test_queues_are_compared_by_what_was_dropped_and_what_they_take() -> None:
    apart, together = (arm for arm, _ in pipelined_queues.ARMS)
    run = {"quiet": 50, "loud": 1000, "loud_dropped": 600, "problems": {}}
    measured = {
        "how": {"quiet": 50, "rounds": 2},
        "runs": [
            {**run, "arm": apart, "quiet_dropped": 0, "quiet_ms": [20.0, 30.0]},
            {**run, "arm": apart, "quiet_dropped": 0, "quiet_ms": [40.0]},
            {**run, "arm": together, "quiet_dropped": 50, "quiet_ms": []},
        ],
        "memory": [
            {"arm": arm, "partitions": spread, "bytes": spread * 1024}
            for arm in (apart, together)
            for spread in pipelined_queues.SPREADS
        ],
    }
    text = pipelined_queues.write(measured)
    assert "| a queue per partition | 0 of 100 | 1200 of 2000 | 30, 40 |" in text
    assert "| one queue for all | 50 of 50 | 600 of 1000 | none got through |" in text
    assert "| 10,000 | 10000 KiB | 10000 KiB |" in text


def test_many_queues_take_more_memory_than_one() -> None:
    assert pipelined_queues.memory_of("partition", 10_000) > 5 * pipelined_queues.memory_of(
        "one", 1
    )


@pytest.mark.parametrize("name", [name for name, _ in EXPERIMENTS])
def test_each_experiment_asks_something_of_versions_that_exist(name: str) -> None:
    found = experiment(name)
    assert found.question.endswith("?")
    assert all(release(version) for version in found.versions)
