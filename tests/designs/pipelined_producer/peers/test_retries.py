"""What is to be sent again, in the order in which it failed."""

from __future__ import annotations

import pytest

from barnabas.designs.pipelined_producer.peers.delivery_reports import Retries
from barnabas.designs.pipelined_producer.peers.event import Event

FIRST, SECOND = ("t", 0), ("t", 1)


def batch(number: int) -> list[Event]:
    return [Event("t", None, number, 0.0)]


@pytest.fixture
def retries() -> Retries:
    """A batch of the first partition, and two of the second one."""
    found = Retries()
    for number, place in enumerate((FIRST, SECOND, SECOND)):
        found.add(place, batch(number), 1.0)
    return found


def values(batches: dict[tuple[str, int], list[Event]]) -> dict[tuple[str, int], list[object]]:
    return {place: [one.value for one in events] for place, events in batches.items()}


def test_the_first_batch_of_each_partition_is_taken_when_it_is_due(retries: Retries) -> None:
    assert retries.take([FIRST, SECOND], 0.9) == {}
    assert values(retries.take([FIRST, SECOND], 1.0)) == {FIRST: [0], SECOND: [1]}
    assert values(retries.take([FIRST, SECOND], 1.0)) == {SECOND: [2]}
    assert len(retries) == 0


def test_what_is_put_back_comes_before_what_failed_behind_it_and_is_due(retries: Retries) -> None:
    taken = retries.take([FIRST, SECOND], 1.0)
    retries.put_back({SECOND: taken[SECOND]})
    assert retries.ripe(0.0) == {SECOND}
    assert values(retries.take([SECOND], 0.0)) == {SECOND: [1]}
    assert values(retries.take([SECOND], 1.0)) == {SECOND: [2]}
