"""Test the group that a request names, and names added to ids of topics."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.name_completion import complete
from barnabas.captures.kafka.context.request_group import PATHS, group_of
from barnabas.captures.kafka.filters import exchange_filter
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import to_json
from barnabas.specs.registry import NAMES, api, key_of
from tests.captures.kafka.context.exchanges import CLICKS, ORDERS, exchange, metadata


@pytest.mark.parametrize(
    ("name", "version", "body", "group"),
    [
        ("Heartbeat", 1, {"group_id": "g"}, "g"),
        ("JoinGroup", 9, {"group_id": "g"}, "g"),
        ("OffsetCommit", 8, {"group_id": "g"}, "g"),
        ("TxnOffsetCommit", 3, {"group_id": "g"}, "g"),
        ("AddOffsetsToTxn", 3, {"group_id": "g"}, "g"),
        ("ConsumerGroupHeartbeat", 1, {"group_id": "g"}, "g"),
        ("ShareFetch", 1, {"group_id": "g"}, "g"),
        ("OffsetFetch", 7, {"group_id": "g"}, "g"),
        ("OffsetFetch", 8, {"groups": [{"group_id": "g"}]}, "g"),
        ("OffsetFetch", 8, {"groups": [{"group_id": "g"}, {"group_id": "h"}]}, None),
        ("DescribeGroups", 5, {"groups": ["g"]}, "g"),
        ("DescribeGroups", 5, {"groups": ["g", "h"]}, None),
        ("DeleteGroups", 2, {"groups_names": ["g"]}, "g"),
        ("ConsumerGroupDescribe", 0, {"group_ids": ["g"]}, "g"),
        ("ShareGroupDescribe", 1, {"group_ids": ["g"]}, "g"),
        ("StreamsGroupDescribe", 0, {"group_ids": ["g"]}, "g"),
        ("DescribeShareGroupOffsets", 0, {"groups": [{"group_id": "g"}]}, "g"),
        ("FindCoordinator", 0, {"key": "g"}, "g"),
        ("FindCoordinator", 2, {"key": "t", "key_type": 1}, None),
        ("FindCoordinator", 4, {"coordinator_keys": ["g"], "key_type": 0}, "g"),
        ("FindCoordinator", 4, {"coordinator_keys": ["t"], "key_type": 1}, None),
        ("Metadata", 1, {"topics": None}, None),
        ("Fetch", 11, {}, None),
    ],
)
def test_the_group_of_a_request(
    name: str, version: int, body: dict[str, Any], group: str | None
) -> None:
    declared = api(name)
    encoded = declared.request.codec(version).encode(body)
    assert group_of(declared.key, version, encoded) == group


@pytest.mark.parametrize(("key", "version"), [(12, 0), (12, 99), (999, 0), (9, 8)])
def test_what_can_not_be_read_names_no_group(key: int, version: int) -> None:
    assert group_of(key, version, b"\x00\x05?") is None


def test_every_request_with_a_group_somewhere_is_listed() -> None:
    fields = ("group_id", "groups", "groups_names", "group_ids")
    for key in NAMES:
        low, high = api(key).versions
        paths = PATHS.get(key, ("group_id",))
        for version in range(low, high + 1):
            layout = api(key).request.layout(version)
            if any(slot.name in fields for slot in layout.slots):
                assert any(layout.find(path) for path in paths), (NAMES[key], version)


@pytest.mark.parametrize(
    ("name", "version", "direction", "body", "where", "field"),
    [
        ("Fetch", 13, "request", {"topics": [{"topic_id": ORDERS}]}, "topics", "topic"),
        ("Fetch", 18, "response", {"responses": [{"topic_id": ORDERS}]}, "responses", "topic"),
        ("Produce", 13, "request", {"topic_data": [{"topic_id": ORDERS}]}, "topic_data", "name"),
        ("Produce", 13, "response", {"responses": [{"topic_id": ORDERS}]}, "responses", "name"),
        ("OffsetCommit", 10, "request", {"topics": [{"topic_id": ORDERS}]}, "topics", "name"),
    ],
)
def test_names_are_what_earlier_versions_call_them(
    name: str, version: int, direction: Direction, body: dict[str, Any], where: str, field: str
) -> None:
    key = key_of(name)
    codec = api(key).message(direction).codec(version)
    decoded = codec.decode(codec.encode(body))
    assert complete(decoded, key, version, direction, {CLICKS: "clicks"}) == {field: {ORDERS}}
    assert decoded[where][0][field] is None
    assert complete(decoded, key, version, direction, {ORDERS: "orders"}) == {}
    assert decoded[where][0][field] == "orders"
    form = to_json(codec.decode(codec.encode(body)))  # the same of the JSON form
    assert complete(form, key, version, direction, {ORDERS: "orders"}) == {}
    assert form[where][0][field] == "orders"
    form[where][0]["topic_id"] = "?"
    assert complete(form, key, version, direction, {}) == {field: {uuid.UUID(int=0)}}


def test_a_filter_asks_for_a_topic_by_name_in_every_version() -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    passes = exchange_filter("request.topics[?topic == 'orders']", context.topics)
    assert passes(exchange("Fetch", 11, {"topics": [{"topic": "orders"}]}))
    later = exchange("Fetch", 13, {"topics": [{"topic_id": ORDERS}]})
    assert passes(later)
    assert "topic" not in later.row()["request"]["topics"][0]  # what is shown is what passed
    assert not passes(exchange("Fetch", 13, {"topics": [{"topic_id": CLICKS}]}))
