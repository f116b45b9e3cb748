from __future__ import annotations

import uuid
from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.topics import NeededTopics, missing_topics
from tests.captures.checks.given import exchange

ID = uuid.UUID(int=7)


def asked(name: str, version: int, body: dict[str, Any]) -> Exchange:
    return exchange(name, version, body, None, at=0)


def fetch(
    version: int, topic: dict[str, Any], *partitions: int, error: int | None = None, **more: Any
) -> Exchange:
    entries = [{"partition": number} for number in partitions]
    answers = [{"topic": "t", "partitions": [{"partition_index": 0, "error_code": error}]}]
    response = None if error is None else {"responses": answers}
    body = {"topics": [{**topic, "partitions": entries}], **more}
    return exchange("Fetch", version, body, response, at=0)


def needed(*exchanges: Exchange) -> NeededTopics:
    found = NeededTopics()
    for one in exchanges:
        found.add(one)
    return found


def test_topics_and_their_partitions() -> None:
    produce = {"topic_data": [{"name": "u", "partition_data": [{"index": 3}]}]}
    lists = {"replica_id": -1, "topics": [{"name": "v", "partitions": [{"partition_index": 0}]}]}
    found = needed(
        fetch(4, {"topic": "t"}, 0, 1),
        fetch(13, {"topic_id": ID}, 2),
        fetch(13, {"topic_id": uuid.UUID(int=8)}, 0),
        asked("Produce", 3, produce),
        asked("ListOffsets", 1, lists),
        asked("Metadata", 1, {"topics": [{"name": "w"}]}),
    )
    assert found.partitions({ID: "t"}) == {"t": 3, "u": 4, "v": 1}


def test_what_was_not_there_then_or_asked_by_a_broker_is_not_needed() -> None:
    found = needed(
        fetch(4, {"topic": "t"}, 0, error=3),
        fetch(4, {"topic": "u"}, 0, replica_id=2),
        fetch(15, {"topic_id": ID}, 0, replica_state={"replica_id": 2}),
        *(Exchange(0, 1, "", "a", 1, 1, v, 0, 0, request_body=b"?") for v in (4, 99)),
    )
    assert found.partitions({ID: "t"}) == {}


def test_what_the_recording_makes_itself() -> None:
    found = needed(asked("CreateTopics", 2, {"topics": [{"name": "t"}]}))
    assert found.created == {"t"}
    assert list(missing_topics({"t": 1}, {}, found.created)) == []
    assert list(missing_topics({"t": 1}, {}, ())) == ["the target lacks t (1 partition)"]
    assert list(missing_topics({"t": 2}, {"t": 3, "u": 1}, ())) == []
