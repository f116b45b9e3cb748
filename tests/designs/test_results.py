"""Results are written by pure functions: what they say follows from the figures."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.consumer_rewrite.experiments import slow as rewrite_slow
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.pipelined_producer.experiments import queues as pipelined_queues


def test_many_queues_take_more_memory_than_one() -> None:
    assert pipelined_queues.memory_of("partition", 10_000) > 5 * pipelined_queues.memory_of(
        "one", 1
    )


def exchanged(api: str, ts: float, end: float, error: str = "", **more: Any) -> DialectExchange:
    """An exchange of ms; the client is "slow" unless it is said."""
    begun, over = round(ts * 1e6), round(end * 1e6)
    connection, client = more.pop("connection", 1), more.pop("client", "slow")
    return DialectExchange(begun, connection, client, 1, "request", api, {}, over, more, error)


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
