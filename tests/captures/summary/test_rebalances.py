"""Generations of the groups of a capture."""

from __future__ import annotations

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.summary.rebalances import Rebalances, Row
from tests.captures.checks.given import S
from tests.captures.checks.test_generations import EXPIRED, join
from tests.places import SAMPLES


def rows(name: str) -> list[Row]:
    rebalances = Rebalances()
    for exchange in Conversations().exchanges(CaptureReader(SAMPLES / name)):
        rebalances.note(exchange)
    return rebalances.finish()


def test_a_group_that_flaps() -> None:
    """Java 4.3.1: one member works for 3 s with a max.poll.interval.ms of 1.5 s."""
    found = rows("flapping.pcapng")
    told = [(row["generation"], row["members"], row["why"]) for row in found]
    assert sorted(told) == sorted(
        [
            (1, 1, "healthy joined"),
            (2, 2, "slow joined"),
            *((number, 1, f"slow left: {EXPIRED}") for number in (3, 5, 7, 9)),
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
        rebalances.note(join(number * S, "a", number, members=("a",)))
    assert [row["generation"] for row in rebalances.finish()] == [4, 5]
    assert rebalances.count == 5
