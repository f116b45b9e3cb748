from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.designs.dialogue import Dialogue
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.pipelined_producer.peers.batch import collate
from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.specs.keys import PRODUCE
from barnabas.specs.records import read


def event(value: object, key: object = None) -> Event:
    return Event("t", key, value, 0.0, 0, timestamp=1_500_000_000_000)


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 2), (12, 2)])
def test_each_version_has_its_magic_and_timestamps_where_there_are_any(
    version: int, magic: int
) -> None:
    events = [event(b"a", b"k"), event(None)]
    body, sent, left, failed = collate({("t", 0): events}, version, Settings(acks=-1), PLAIN)
    assert (left, failed) == ({}, [])
    assert sent == {("t", 0): events}
    assert (body["acks"], body["timeout_ms"]) == (-1, 10_000)
    records = body["topic_data"][0]["partition_data"][0]["records"]
    found = [record for batch in read(records) for record in batch]
    assert {batch.magic for batch in read(records)} == {magic}
    assert [(one.key, one.value) for one in found] == [(b"k", b"a"), (None, None)]
    assert {one.timestamp for one in found} == {1_500_000_000_000 if magic else -1}


def test_a_codec_that_the_magic_lacks_is_every_event_s_problem() -> None:
    batches = {("t", 0): [event(b"a"), event(b"b")]}
    body, sent, _, failed = collate(batches, 0, Settings(compression="zstd"), PLAIN)
    assert (body["topic_data"], sent) == ([], {})
    assert ["zstd" in str(one.problem) for one in failed] == [True, True]


def test_a_request_ends_where_its_bytes_do_and_smaller_batches_still_fit() -> None:
    batches = {
        ("t", number): [event(b"v" * size) for size in sizes]
        for number, sizes in enumerate([(400, 10), (400, 400), (600,), (10, 10)])
    }
    limits = Settings(client_id="me", request_bytes=1200)
    _, sent, left, _ = collate(batches, 3, limits, PLAIN)
    assert {place[1]: len(events) for place, events in sent.items()} == {0: 2, 1: 1}
    assert {place[1]: len(events) for place, events in left.items()} == {1: 1, 2: 1, 3: 2}
    _, sent, left, _ = collate(left, 3, limits, PLAIN)
    assert {place[1]: len(events) for place, events in sent.items()} == {1: 1, 3: 2}


def test_a_batch_ends_where_its_bytes_do_and_nothing_is_serialised_in_vain() -> None:
    asked: list[object] = []

    def value(what: object) -> bytes:
        asked.append(what)
        return b"v" * 100

    events = [event(number) for number in range(10)]
    limits = Settings(batch_bytes=61 + 3 * 134)
    _, sent, left, failed = collate({("t", 0): events}, 3, limits, PLAIN._replace(value=value))
    assert asked == [0, 1, 2, 3]
    assert (sent, left, failed) == ({("t", 0): events[:3]}, {("t", 0): events[3:]}, [])


def test_what_becomes_too_large_by_a_serializer_is_said_and_the_rest_is_sent() -> None:
    events = [event(5), event(500), event(6)]
    limits = Settings(batch_bytes=200)
    _, sent, _, failed = collate({("t", 0): events}, 3, limits, PLAIN._replace(value=bytes))
    assert sent == {("t", 0): [events[0], events[2]]}
    assert [(one.event, one.problem) for one in failed] == [
        (events[1], "a record of 534 bytes, 34 of them around key and value: at most 139 fit")
    ]


VALUES = st.one_of(st.none(), st.binary(max_size=300))


@given(
    batches=st.dictionaries(
        st.tuples(st.sampled_from(("t", "ü" * 50)), st.integers(0, 300)),
        st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=12),
        min_size=1,
        max_size=6,
    ),
    version=st.sampled_from((0, 2, 3, 8, 9, 12)),
    batch_bytes=st.integers(400, 3000),
    request_bytes=st.integers(1000, 6000),
    client_id=st.sampled_from(("", "me", "ä" * 40)),
    timestamp=st.sampled_from((0, 1_500_000_000_000, (1 << 62) - 1)),
)
@settings(deadline=None)
def test_no_batch_and_no_request_is_ever_larger_than_its_limit(
    batches: dict[TopicPartition, list[tuple[bytes | None, bytes | None]]],
    version: int,
    batch_bytes: int,
    request_bytes: int,
    client_id: str,
    timestamp: int,
) -> None:
    limits = Settings(client_id=client_id, batch_bytes=batch_bytes, request_bytes=request_bytes)
    left = {
        place: [
            Event(place[0], key, value, 0.0, place[1], timestamp=timestamp * (number % 2))
            for number, (key, value) in enumerate(events)
        ]
        for place, events in batches.items()
    }
    told: list[Event] = []
    while left:
        before = sum(map(len, left.values()))
        body, sent, left, failed = collate(left, version, limits, PLAIN)
        told += (one.event for one in failed)
        told += (one for events in sent.values() for one in events)
        assert sum(map(len, left.values())) < before
        for topic in body["topic_data"]:
            for part in topic["partition_data"]:
                assert len(part["records"]) <= batch_bytes
        assert len(Dialogue(client_id).ask(PRODUCE, version, body)) <= request_bytes
        for one in failed:
            assert len(one.event.key or b"") + len(one.event.value or b"") > 300
    assert len(told) == sum(map(len, batches.values()))


def test_a_serializer_that_gives_no_bytes_is_every_event_s_problem() -> None:
    bad = PLAIN._replace(value=lambda value: value)
    _, sent, _, failed = collate({("t", 0): [event(5)]}, 3, Settings(), bad)
    assert sent == {}
    assert len(failed) == 1
