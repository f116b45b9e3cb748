from __future__ import annotations

import uuid

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.order import TooLarge, in_order, index
from barnabas.specs import api


def exchange(ts: int, connection: int = 1, size: int = 10) -> Exchange:
    return Exchange(ts, connection, "", "a", 1, 3, 1, 0, size)


def test_the_order_is_that_of_requests() -> None:
    recorded = [exchange(5, 1), exchange(2, 2), exchange(7, 1), exchange(6, 2)]
    found = index(recorded)
    assert found.began == 2
    assert found.last == {1: 2, 2: 3}
    assert [one.ts for _, one in in_order(recorded, found.order)] == [2, 5, 6, 7]


def test_what_waits_too_long_is_too_much() -> None:
    recorded = [exchange(ts, size=1000) for ts in (3, 4, 5)] + [exchange(1)]
    with pytest.raises(TooLarge):
        list(in_order(recorded, index(recorded).order, limit=2500))
    assert len(list(in_order(recorded, index(recorded).order, limit=3500))) == 4


def test_names_and_assignments_are_known_before() -> None:
    topic = uuid.UUID(int=7)
    response = (
        api("Metadata").response.codec(12).encode({"topics": [{"name": "t", "topic_id": topic}]})
    )
    metadata = Exchange(0, 1, "", "a", 1, 3, 12, 0, 0, response_body=response)
    given = [{"member_id": "m", "assignment": b"x"}]
    sync = {"group_id": "g", "generation_id": 3, "member_id": "m"}
    bodies = [
        api("SyncGroup").request.codec(1).encode({**sync, "assignments": several})
        for several in (given, [])
    ]
    asked = [Exchange(1, 1, "", "a", 1, 14, 1, 0, 0, request_body=body) for body in bodies]
    found = index([metadata, *asked])
    assert found.topics == {topic: "t"}
    assert found.assignments == {("g", 3): given}
