from __future__ import annotations

import uuid

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.topics import topics_of
from barnabas.specs import api
from barnabas.specs.frames import Direction

ORDERS = uuid.UUID(int=7)


def exchange(name: str, version: int, **bodies: dict[str, object]) -> Exchange:
    found = api(name)
    encoded = {
        f"{direction}_body": found.message(_direction(direction)).codec(version).encode(body)
        for direction, body in bodies.items()
    }
    return Exchange(0, 1, "", None, None, found.key, version, 0, 12, **encoded)  # type: ignore[arg-type]


def _direction(text: str) -> Direction:
    return "request" if text == "request" else "response"


@pytest.mark.parametrize(
    ("found", "topics"),
    [
        (exchange("Metadata", 1, request={"topics": [{"name": "a"}, {"name": "b"}]}), {"a", "b"}),
        (exchange("Metadata", 1, response={"topics": [{"name": "a"}]}), {"a"}),
        (exchange("Fetch", 11, request={"topics": [{"topic": "a"}]}), {"a"}),
        (exchange("Fetch", 13, request={"topics": [{"topic_id": ORDERS}]}), {"orders"}),
        (
            exchange("Fetch", 13, request={"topics": [{"topic_id": uuid.UUID(int=9)}]}),
            {"AAAAAAAAAAAAAAAAAAAACQ"},
        ),
        (exchange("Produce", 9, request={"topic_data": [{"name": "a"}]}), {"a"}),
        (exchange("Heartbeat", 4, request={"group_id": "g"}), set()),
        (Exchange(0, 1, "", None, None, 3, 1, 0, 12, request_body=b"\xff"), set()),
        (Exchange(0, 1, "", None, None, 3, 999, 0, 12, request_body=b""), set()),
        (Exchange(0, 1, "", None, None, 999, 0, 0, 12, request_body=b""), set()),
        (Exchange(0, 1, "", None, None, -1, 0, 0, 12, request_body=b"token"), set()),
    ],
)
def test_topics_of_an_exchange(found: Exchange, topics: set[str]) -> None:
    assert topics_of(found, {ORDERS: "orders"}) == topics
