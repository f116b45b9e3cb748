"""Results are written by pure functions: what they say follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.central_coordination.experiments import dying as central_dying
from barnabas.designs.central_coordination.experiments import failover as central_failover
from barnabas.designs.consumer_rewrite.experiments import latency as rewrite_latency
from barnabas.designs.consumer_rewrite.experiments import slow as rewrite_slow
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.pipelined_producer.experiments import idempotence_order
from barnabas.designs.pipelined_producer.experiments import order as pipelined_order
from barnabas.designs.pipelined_producer.experiments import queues as pipelined_queues
from barnabas.designs.pipelined_producer.experiments import throughput as pipelined_throughput
from barnabas.experiments.registry import experiment, names
from barnabas.peers.apache.versions import release


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


@pytest.mark.parametrize("name", names())
def test_each_experiment_asks_something_of_versions_that_exist(name: str) -> None:
    found = experiment(name)
    assert found.question.endswith("?")
    assert all(release(version) for version in found.versions)


def idempotent(case: str, arm: str, number: int) -> dict[str, Any]:
    refused = case != idempotence_order.CASES[0][0]
    several = f"{idempotence_order.IN_FLIGHT} in flight" in arm
    failed = case == idempotence_order.FIRST and arm.startswith("idempotent")
    return {
        "case": case,
        "arm": arm,
        "round": number,
        "in_order": None if failed else not refused or not several or arm.startswith("idem"),
        "extra": None if failed else 2 * ("lost" in case and not arm.startswith("idem")),
        "problems": {"failed": "TimeoutException"} if failed else {},
        "in_flight": 5 if several else 1,
        "errors": {"NOT_ENOUGH_REPLICAS": 3} if refused else {},
    }


def test_idempotence_is_told_by_case() -> None:
    runs = [
        idempotent(case, arm, number)
        for case, _ in idempotence_order.CASES
        for arm, *_ in idempotence_order.ARMS
        for number in range(4)
    ]
    how = {"messages": 9, "rounds": 4, "delivery_ms": 8_000}
    measured = {"how": how, "runs": runs, "drawn": {}}
    text = idempotence_order.write(measured)
    assert (
        "- Every tenth refused, in steady state: without idempotence 0 of 4 (0-49 %) runs are in order, "
        "and 0 records are there twice; with it 4 of 4 (51-100 %), and 0." in text
    )
    assert "without idempotence 0 of 4 (0-49 %) runs are in order, and 8 records are there" in text
    assert "idempotent, 5 in flight: 4 producers failed, with TimeoutException." in text
    assert "8 records are there twice; with it unknown" not in text
    assert "0 records are there twice; with it unknown, and unknown." in text
    assert "NOT_ENOUGH_REPLICAS: 12" in text
    assert "<svg" in idempotence_order.drawn(measured)["order"]


def exchanged(api: str, ts: float, end: float, error: str = "", **more: Any) -> DialectExchange:
    """An exchange of ms; the client is "slow" unless it is said."""
    return DialectExchange(
        round(ts * 1e6),
        more.pop("connection", 1),
        more.pop("client", "slow"),
        1,
        "request",
        api,
        {},
        round(end * 1e6),
        more,
        error,
    )


@pytest.mark.parametrize(
    ("late", "error", "joins", "outcome"),
    [
        (-5, "", (), "in time"),
        (40, "", (), "rebalance cancelled"),
        (40, "IllegalGeneration", (("slow", 3), ("a", 3)), "joined the round"),
        (
            40,
            "UnknownConsumerId",
            (("a", 3), ("slow", 4), ("a", 4)),
            "left out, joined the next one",
        ),
    ],
)
def test_what_becomes_of_a_slow_consumer(
    late: float, error: str, joins: tuple[tuple[str, int], ...], outcome: str
) -> None:
    own = [exchanged("Heartbeat", 10, 11), exchanged("Heartbeat", 100, 101)]
    own.append(exchanged("Heartbeat", 600 + late, 601 + late, error, connection=2))
    own += [
        exchanged("JoinGroup", 700 + at, 750, client=name, group_generation_id=generation)
        for at, (name, generation) in enumerate(joins)
    ]
    begun, resumed = 110_000_000, round((600 + late - 1) * 1e6)
    found = rewrite_slow.outcome(own, "slow", begun, resumed, session_ms=500)
    assert (found["outcome"], found["late_ms"], found["reconnected"]) == (outcome, late, True)
    assert found["generations"] == len({generation for _, generation in joins})


def test_a_rebalance_takes_until_the_last_answer() -> None:
    within = [
        exchanged("Heartbeat", 20, 25, "IllegalGeneration"),
        exchanged("JoinGroup", 26, 80, group_generation_id=2),
        exchanged("Heartbeat", 60, 61, "IllegalGeneration", client="a"),
        exchanged("JoinGroup", 62, 81, client="a", group_generation_id=2),
        exchanged("Heartbeat", 90, 91),
    ]
    found = rewrite_latency.parts(within, 10_000_000)
    assert (found["told_ms"], found["joined_ms"], found["answered_ms"]) == (51.0, 52.0, 71.0)
    assert (found["joins"], found["generations"]) == (2, [2])


def latency(runs: list[dict[str, Any]]) -> dict[str, Any]:
    how = {"session": 2000, "frequencies": [2, 10], "rounds": 2, "sessions": 20}
    alone = [
        {"frequency": 1, "heartbeats": {"no error": 3, "UnknownConsumer": 5}, "generations": 7},
        {"frequency": 2, "heartbeats": {"no error": 60}, "generations": 0},
    ]
    return {"how": how, "runs": runs, "alone": alone, "drawn": []}


def test_latency_is_held_against_the_interval_and_against_who_was_told() -> None:
    runs = []
    for arm, more in ((rewrite_latency.WITH, 10), (rewrite_latency.WITHOUT, 1500)):
        for frequency in (2, 10):
            for told in (100, 900):
                one = {"arm": arm, "frequency": frequency, "told_ms": told, "generations": [2]}
                runs.append({**one, "answered_ms": told + more})
    text = rewrite_latency.write(latency(runs))
    assert (
        "| with its consumer id | 2 | 1000 | 500 (100-900) | 2 of 2 (34-100 %) | 510 (110-910) | 910 |"
        in text
    )
    assert "| with its consumer id | 10 | 200 | 500 (100-900) | 1 of 2 (9-91 %) |" in text
    assert "the last one is answered 10 (10-10) ms after the last one was told" in text
    assert "of which 1500 (1500-1500) ms are behind the moment" in text
    assert (
        "for 20 session timeouts (40 s): at a frequency of 1 it had 7 new generations, and of 8 heartbeats 3 "
        "were answered without an error (5 UnknownConsumer); at a frequency of 2 it had 0 new generations, "
        "and of 60 heartbeats 60 were answered without an error." in text
    )


def test_the_unrest_of_a_group_is_counted_by_answers_and_generations() -> None:
    within = [
        exchanged("Heartbeat", 1, 2),
        exchanged("Heartbeat", 3, 4, "UnknownConsumer"),
        exchanged("JoinGroup", 5, 9, group_generation_id=2),
        exchanged("JoinGroup", 6, 9, client="a", group_generation_id=2),
        exchanged("JoinGroup", 10, 19, group_generation_id=3),
        exchanged("JoinGroup", 11, 12, "CoordinatorStartupNotComplete"),
        exchanged("Heartbeat", 20, 21),
    ]
    within[-1].end = None
    assert rewrite_latency.unrest(within) == {
        "heartbeats": {"no error": 1, "UnknownConsumer": 1, "no answer": 1},
        "joins": 3,
        "generations": 2,
    }


def test_what_the_coordinator_asked_of_those_that_live() -> None:
    own = [
        exchanged("StopFetcher", 0, 1, client="dies"),
        exchanged("StopFetcher", 1, 5, client="a"),
        exchanged("StartFetcher", 6, 9, client="a"),
        exchanged("StopFetcher", 406, 409, client="a"),
        exchanged("StartFetcher", 410, 415, client="a"),
    ]
    own.append(exchanged("StartFetcher", 6, 9, client="dies"))
    own[-1].end = None
    found = {"stops": 2, "starts": 2, "took_ms": 414.0, "unanswered": 1}
    assert central_dying.counted(own, "dies") == {**found, "registered_again": 0}
    own.append(exchanged("RegisterConsumer", 416, 417, client="b"))
    assert central_dying.counted(own, "dies") == {**found, "registered_again": 1}


def failover(phase: str, kind: str, behind: int, twice: int) -> dict[str, Any]:
    about = {"phase": phase, "kind": kind, "ms": 30.0, "rebalances": 1 + bool(twice)}
    return {**about, "behind": behind, "ahead": 0, "twice": twice, "missed": 0}


def test_what_a_dead_coordinator_makes_a_group_read_twice() -> None:
    runs = [
        failover(phase, kind, *((2, 50) if late and phase < "5" else (0, 0)))
        for phase, *_ in central_failover.PHASES
        for kind, late in ((central_failover.AT_ONCE, False), (central_failover.LATE, True))
    ]
    how = {"session": 1500, "rounds": 1}
    text = central_failover.write({"how": how, "runs": runs, "drawn": {}})
    assert "| one of them late | 30, 30 | 2 | 1 of 1 | 50, 50 | 0 |" in text
    assert "If all notice at once, partitions began behind what was read in 0 of 7 runs. " in text
    assert (
        "(phases 1 to 4) partitions began behind what was read in 4 of 4 runs (at most 50" in text
    )
    assert "(5 to 7), partitions began behind what was read in 0 of 3 runs. " in text
