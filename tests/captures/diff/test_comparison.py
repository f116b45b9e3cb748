from __future__ import annotations

import uuid

import pytest

from barnabas.captures.diff.bodies import ABSENT, Difference
from barnabas.captures.diff.comparison import Compared, TooLarge, compare
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs import api, records
from barnabas.specs.frames import Direction
from barnabas.specs.records import Record


def exchange(
    name: str = "OffsetCommit",
    version: int = 2,
    *,
    ts: int = 0,
    client: str = "a",
    broker: int = 1,
    **bodies: dict[str, object],
) -> Exchange:
    found = api(name)
    directions: tuple[Direction, ...] = ("request", "response")
    encoded = {
        f"{direction}_body": found.message(direction).codec(version).encode(bodies[direction])
        for direction in directions
        if direction in bodies
    }
    return Exchange(
        ts,
        1,
        "",
        client,
        broker,
        found.key,
        version,
        0,
        12,
        **encoded,  # type: ignore[arg-type]
    )


def commit(group: str, *, error: int = 0, **more: int) -> Exchange:
    partition = {"partition_index": 0, "error_code": error}
    return exchange(
        request={"group_id": group},
        response={"topics": [{"name": "t", "partitions": [partition]}]},
        **more,  # type: ignore[arg-type]
    )


def produce(value: bytes, timestamp: int, codec: str) -> Exchange:
    data = records.build([Record(0, timestamp, None, value)], compression=codec)
    partitions = [{"index": 0, "records": data}]
    return exchange(
        "Produce", 9, request={"topic_data": [{"name": "t", "partition_data": partitions}]}
    )


def names(found: list[Compared]) -> list[tuple[str | None, str | None]]:
    def name(one: Exchange | None) -> str | None:
        return None if one is None or one.request is None else one.request["group_id"]

    return [(name(one.left), name(one.right)) for one in found]


def test_the_same_is_the_same() -> None:
    found = list(compare([commit("g")], [commit("g")]))
    assert [one.same for one in found] == [True]


def test_what_differs_is_named() -> None:
    (found,) = compare([commit("g")], [commit("g", error=22)])
    assert not found.same
    assert found.response == (Difference("topics[t].partitions[0].error_code", 0, 22),)


def test_one_more_in_between_does_not_shift_the_others() -> None:
    left = [commit("g", ts=1), commit("h", ts=2), commit("i", ts=3)]
    right = [commit("g", ts=1), commit("x", ts=2), commit("h", ts=3), commit("i", ts=4)]
    expected = [("g", "g"), (None, "x"), ("h", "h"), ("i", "i")]
    assert names(list(compare(left, right))) == expected
    assert names(list(compare(right, left))) == [(b, a) for a, b in expected]


def test_what_asks_for_something_else_belongs_together_by_api() -> None:
    (found,) = compare([commit("g")], [commit("h")])
    assert found.request == (Difference("group_id", "g", "h"),)
    heartbeat = exchange("Heartbeat", 0, request={"group_id": "g"})
    assert names(list(compare([commit("g")], [heartbeat]))) == [("g", None), (None, "g")]


def test_clients_are_apart_and_brokers_are_not() -> None:
    left = [commit("g", broker=1, ts=2), commit("h", broker=2, ts=1)]
    right = [commit("h", broker=1, ts=1), commit("g", broker=1, ts=2)]
    assert all(one.same for one in compare(left, right))
    other = [exchange(client="b", request={"group_id": "g"})]
    assert names(list(compare([commit("g")], other))) == [("g", None), (None, "g")]


def test_records_are_compared_not_their_bytes() -> None:
    (found,) = compare([produce(b"v", 1, "none")], [produce(b"v", 2, "gzip")])
    assert found.same
    (found,) = compare([produce(b"v", 1, "none")], [produce(b"w", 1, "none")])
    assert [one.path for one in found.request] == [
        "topic_data[t].partition_data[0].records[0].value"
    ]


def test_versions_may_differ() -> None:
    old = exchange("Heartbeat", 0, request={"group_id": "g", "member_id": "m"})
    new = exchange("Heartbeat", 3, request={"group_id": "g", "member_id": "n"})
    (found,) = compare([old], [new])
    assert found.request == (Difference("group_instance_id", ABSENT, None),)
    (found,) = compare([old], [new], ["group_instance_id"])
    assert [one.path for one in found.request] == ["member_id"]


def test_too_much_is_said() -> None:
    with pytest.raises(TooLarge, match="compare a part"):
        list(compare([commit("g")] * 3, [], limit=30))


def test_names_that_are_known_before_tell_topics_apart() -> None:
    ids = uuid.UUID(int=1), uuid.UUID(int=2)

    def fetch(topic_id: uuid.UUID) -> Exchange:
        topics = [{"topic_id": topic_id, "partitions": [{"partition": 0}]}]
        return exchange("Fetch", 13, request={"topics": topics})

    def found(*told: str) -> list[Compared]:
        contexts = Context(), Context()
        for context, topic_id, name in zip(contexts, ids, told, strict=False):
            context.topics[topic_id] = name
        return list(compare([fetch(ids[0])], [fetch(ids[1])], contexts=contexts))

    same = [[one.same for one in found(*told)] for told in ((), ("t", "t"), ("t", "u"))]
    assert same[1:] == [[True], [False]]
    assert same[0] != [True]
