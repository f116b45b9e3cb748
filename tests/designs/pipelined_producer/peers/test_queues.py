"""Both choices of queueing: the same functions, and where they differ."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.designs.leaders import TopicPartition
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event
from barnabas.designs.pipelined_producer.peers.queues import OneQueue, PartitionQueues, Queues

Make = Callable[[int, int], Queues]

LARGE = 1 << 20
"""Bytes that no batch here comes to."""

both = pytest.mark.parametrize("make", [PartitionQueues, OneQueue])


def event(
    value: object, partition: int = 0, topic: str = "t", at: float = 0.0, size: int = 0
) -> Event:
    return Event(topic, None, value, at, partition, size=size)


def values(batches: dict[TopicPartition, list[Event]]) -> dict[TopicPartition, list[object]]:
    return {place: [one.value for one in events] for place, events in batches.items()}


@both
def test_a_batch_is_full_of_bytes_as_well(make: Make) -> None:
    queues = make(100, 50)
    queues.put(event("a", at=10.0, size=30))
    assert list(queues.ripe(9, 0.0)) == []
    queues.put(event("b", at=10.0, size=20))
    assert list(queues.ripe(9, 0.0)) == [("t", 0)]
    assert values(queues.take([("t", 0)], 1, 0.0)) == {("t", 0): ["a"]}
    assert queues.take([("t", 0)], 9, 0.0) == {}  # 20 bytes are left
    queues.put(event("c", UNDESIGNATED, at=1.0, size=40))
    queues.remove(lambda one: one.value == "b")
    queues.designate("t", lambda _: 0)
    assert list(queues.ripe(9, 0.0)) == []
    queues.put(event("d", UNDESIGNATED, at=1.0, size=10))
    assert values(queues.take([("t", 0)], 9, 0.0)) == {("t", 0): ["c", "d"]}
    assert list(queues.ripe(9, 0.0)) == []


@both
def test_what_is_put_back_is_the_first_again_even_without_room(make: Make) -> None:
    queues = make(4, 50)
    for number in range(4):
        queues.put(event(number, number % 2, at=float(number), size=20))
    batches = queues.take([("t", 0), ("t", 1)], 2, math.inf)
    for number in range(4, 8):
        queues.put(event(number, number % 2, at=float(number), size=20))
    queues.put_back({("t", 0): batches["t", 0][1:], ("t", 1): batches["t", 1]})
    assert len(queues) == 7
    assert min(queues.firsts()) == 1.0
    assert set(queues.ripe(9, 0.0)) == {("t", 0), ("t", 1)}  # of bytes
    places = [("t", 0), ("t", 1)]
    assert values(queues.take(places, 9, 0.0)) == {("t", 0): [2, 4, 6], ("t", 1): [1, 3, 5, 7]}


@both
def test_a_full_partition_leaves_room_for_others_but_not_in_one_queue(make: Make) -> None:
    queues = make(2, LARGE)
    assert [queues.put(event(n)) for n in range(3)] == [True, True, False]
    assert queues.put(event("audit", topic="audit")) == (make is PartitionQueues)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("ab"), st.integers(-1, 2), st.booleans()),
        st.tuples(st.just("take"), st.sets(st.integers(0, 2), min_size=1), st.integers(1, 3)),
        st.tuples(st.just("put back"), st.sets(st.integers(0, 2), min_size=1), st.integers(1, 3)),
        st.tuples(st.just("designate"), st.sampled_from("ab")),
    ),
    max_size=40,
)


@both
@given(steps)
def test_nothing_is_lost_doubled_or_overtaken(make: Make, script: list[tuple[object, ...]]) -> None:
    """What has a partition from the beginning leaves in its order, and so does what has none; and what was
    put back leaves in the order of its batch."""
    queues = make(20, LARGE)
    put: list[Event] = []
    taken: list[Event] = []
    first: dict[Event, TopicPartition] = {}
    batched: dict[TopicPartition, list[Event]] = {}
    for what, *how in script:
        if what == "put":
            topic, partition, keyed = how
            one = Event(str(topic), "k" if keyed else None, len(put), 0.0, int(str(partition)))
            first[one] = one.topic_partition
            if queues.put(one):
                put.append(one)
        elif what in ("take", "put back"):
            numbers, limit = how
            places = [(t, n) for t in "ab" for n in sorted(numbers)]  # type: ignore[call-overload]
            ripe = set(queues.ripe(int(str(limit)), 0.0))
            batches = queues.take(places, int(str(limit)), 0.0)
            assert all(0 < len(batch) <= int(str(limit)) for batch in batches.values())
            assert all(place in places for place in batches)
            expected = {p for p in places if p in ripe or (p[0], UNDESIGNATED) in ripe}
            assert bool(batches) == bool(expected)
            for place, batch in batches.items():
                keep = len(batch) if what == "take" else len(batch) // 2
                taken += batch[:keep]
                queues.put_back({place: batch[keep:]} if batch[keep:] else {})
                known = batched.setdefault(place, [])
                known += [one for one in batch if one not in known]
        else:
            queues.designate(str(how[0]), lambda _: 1)
        assert len(queues) == len(put) - len(taken)
    left = queues.remove(lambda _: True)
    assert sorted(str(one.value) for one in taken + left) == sorted(str(one.value) for one in put)
    for place, events in batched.items():
        gone = [e for e in taken if e.topic_partition == place]
        assert gone == events[: len(gone)]
        for kind in {(first[e], e.key) for e in events}:
            own = [int(str(e.value)) for e in events if (first[e], e.key) == kind]
            assert own == sorted(own)
