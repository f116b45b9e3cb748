"""Results are written by pure functions: what they say follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.central_coordination.experiments import dying as central_dying
from barnabas.designs.consumer_rewrite.experiments import latency as rewrite_latency
from barnabas.designs.consumer_rewrite.experiments import slow as rewrite_slow
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.pipelined_producer.experiments import queues as pipelined_queues


def test_many_queues_take_more_memory_than_one() -> None:
    assert pipelined_queues.memory_of("partition", 10_000) > 5 * pipelined_queues.memory_of(
        "one", 1
    )


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
