from __future__ import annotations

import uuid

import pytest

from barnabas.captures.kafka.client_software import software_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.topics import topics_of
from tests.captures.kafka.context.exchanges import ORDERS, exchange


def unreadable(key: int, version: int, body: bytes) -> Exchange:
    return Exchange(0, 1, "", None, None, key, version, 0, 12, request_body=body)


@pytest.mark.parametrize(
    ("found", "topics"),
    [
        (exchange("Metadata", 1, {"topics": [{"name": "a"}, {"name": "b"}]}), {"a", "b"}),
        (exchange("Metadata", 1, None, {"topics": [{"name": "a"}]}), {"a"}),
        (exchange("Fetch", 11, {"topics": [{"topic": "a"}]}), {"a"}),
        (exchange("Fetch", 13, {"topics": [{"topic_id": ORDERS}]}), {"orders"}),
        (exchange("Fetch", 13, {"topics": [{"topic_id": uuid.UUID(int=9)}]}), {"AAAAAAAAAAAAAAAAAAAACQ"}),
        (exchange("Produce", 9, {"topic_data": [{"name": "a"}]}), {"a"}),
        (exchange("Heartbeat", 4, {"group_id": "g"}), set()),
        (unreadable(3, 1, b"\xff"), set()),
        (unreadable(3, 999, b""), set()),
        (unreadable(999, 0, b""), set()),
        (unreadable(-1, 0, b"token"), set()),
    ],
)  # fmt: skip
def test_topics_of_an_exchange(found: Exchange, topics: set[str]) -> None:
    assert topics_of(found, {ORDERS: "orders"}) == topics


def test_the_software_of_a_client() -> None:
    named = {"client_software_name": "librdkafka", "client_software_version": "2.16.1"}
    assert software_of(exchange("ApiVersions", 3, named)) == "librdkafka 2.16.1"
    assert software_of(exchange("ApiVersions", 0, {})) is None
    assert software_of(exchange("Metadata", 1, {"topics": None})) is None
