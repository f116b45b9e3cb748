from __future__ import annotations

import pytest

from peers.pipelined_producer.batch import PLAIN, collate
from peers.pipelined_producer.event import Event
from peers.pipelined_producer.settings import Settings
from specs.records import read


def event(value: object, key: object = None) -> Event:
    return Event("t", key, value, 0.0, 0, timestamp=1_500_000_000_000)


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 2), (12, 2)])
def test_each_version_has_its_magic_and_timestamps_where_there_are_any(
    version: int, magic: int
) -> None:
    events = [event(b"a", b"k"), event(None)]
    body, sent, failed = collate({("t", 0): events}, version, Settings(acks=-1), PLAIN)
    assert failed == []
    assert sent == {("t", 0): events}
    assert (body["acks"], body["timeout_ms"]) == (-1, 10_000)
    records = body["topic_data"][0]["partition_data"][0]["records"]
    found = [record for batch in read(records) for record in batch]
    assert {batch.magic for batch in read(records)} == {magic}
    assert [(one.key, one.value) for one in found] == [(b"k", b"a"), (None, None)]
    assert {one.timestamp for one in found} == {1_500_000_000_000 if magic else -1}


def test_a_codec_that_the_magic_lacks_is_every_event_s_problem() -> None:
    batches = {("t", 0): [event(b"a"), event(b"b")]}
    body, sent, failed = collate(batches, 0, Settings(compression="zstd"), PLAIN)
    assert (body["topic_data"], sent) == ([], {})
    assert ["zstd" in str(one.problem) for one in failed] == [True, True]


def test_a_serializer_that_gives_no_bytes_is_every_event_s_problem() -> None:
    bad = PLAIN._replace(value=lambda value: value)
    _, sent, failed = collate({("t", 0): [event(5)]}, 3, Settings(), bad)
    assert sent == {}
    assert len(failed) == 1
