from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.replay.routing import OF_LEADERS, Coordinator, coordinator_of, merge, split
from barnabas.specs import api
from barnabas.specs.registry import key_of

TRANSACTION = {"group_id": "g", "transactional_id": "x"}
COORDINATORS = [
    ("JoinGroup", 1, {"group_id": "g"}, Coordinator(0, "g")),
    ("OffsetFetch", 8, {"groups": [{"group_id": "g", "topics": None}]}, Coordinator(0, "g")),
    ("DescribeGroups", 1, {"groups": ["g"]}, Coordinator(0, "g")),
    ("DescribeGroups", 1, {"groups": ["g", "h"]}, None),
    ("TxnOffsetCommit", 1, TRANSACTION, Coordinator(0, "g")),
    ("InitProducerId", 1, {"transactional_id": "x"}, Coordinator(1, "x")),
    ("InitProducerId", 1, {"transactional_id": None}, None),
    ("AddOffsetsToTxn", 0, TRANSACTION, Coordinator(1, "x")),
    ("Metadata", 1, {"topics": None}, None),
]


@pytest.mark.parametrize(("name", "version", "body", "found"), COORDINATORS)
def test_coordinators(name: str, version: int, body: Any, found: Coordinator | None) -> None:
    codec = api(name).request.codec(version)
    encoded = codec.encode(body)
    assert coordinator_of(key_of(name), version, encoded, codec.decode(encoded)) == found


def test_parts_go_to_their_leaders_and_come_together_again() -> None:
    partitions = [{"index": number} for number in range(3)]
    body = {"acks": 1, "topic_data": [{"name": one, "partition_data": partitions} for one in "ab"]}
    parts = split(0, body, lambda topic, number: 1 if topic == "a" and number else 2)
    assert {node: part["acks"] for node, part in parts.items()} == {1: 1, 2: 1}
    assert parts[1]["topic_data"] == [{"name": "a", "partition_data": [{"index": 1}, {"index": 2}]}]
    answers = [
        {
            "responses": [
                {"name": one["name"], "partition_responses": one["partition_data"]}
                for one in topics
            ]
        }
        for topics in (part["topic_data"] for part in parts.values())
    ]
    merged = {
        topic["name"]: {entry["index"] for entry in topic["partition_responses"]}
        for topic in merge(0, answers)["responses"]
    }
    assert merged == {"a": {0, 1, 2}, "b": {0, 1, 2}}


def test_the_arrays_are_there_in_all_versions() -> None:
    for key, names in OF_LEADERS.items():
        first, last = api(key).versions
        for version in range(first, last + 1):
            request = api(key).request.layout(version).defaults()
            response = api(key).response.layout(version).defaults()
            assert names.topics in request, (key, version)
            assert names.response_topics in response, (key, version)


def test_an_answer_fails_if_that_of_one_leader_does() -> None:
    parts: list[dict[str, object]] = [
        {"error_code": code, "session_id": code, "responses": []} for code in (0, 71, 0)
    ]
    assert merge(1, parts)["error_code"] == 71
