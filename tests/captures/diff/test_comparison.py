from __future__ import annotations

import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.diff.bodies import ABSENT, Difference, differences
from barnabas.captures.diff.comparison import Compared, TooLarge, compare
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs import records
from barnabas.specs.records import Record
from tests.captures.checks.given import Body, exchange


def recorded(
    name: str, version: int, request: Body, response: Body | None = None, **more: Any
) -> Exchange:
    return exchange(name, version, request, response, **{"at": 0, "client": "a", **more})


def commit(group: str, *, error: int = 0, **more: Any) -> Exchange:
    partition = {"partition_index": 0, "error_code": error}
    topics = [{"name": "t", "partitions": [partition]}]
    return recorded("OffsetCommit", 2, {"group_id": group}, {"topics": topics}, **more)


def heartbeat(version: int, **request: Any) -> Exchange:
    return recorded("Heartbeat", version, {"group_id": "g", **request})


def produce(value: bytes, timestamp: int, codec: str) -> Exchange:
    data = records.build([Record(0, timestamp, None, value)], compression=codec)
    partitions = [{"index": 0, "records": data}]
    return recorded("Produce", 9, {"topic_data": [{"name": "t", "partition_data": partitions}]})


def names(found: list[Compared]) -> list[tuple[str | None, str | None]]:
    def name(one: Exchange | None) -> str | None:
        return None if one is None or one.request is None else one.request["group_id"]

    return [(name(one.left), name(one.right)) for one in found]


def test_what_differs_is_named() -> None:
    (found,) = compare([commit("g")], [commit("g")])
    assert found.same
    (found,) = compare([commit("g")], [commit("g", error=22)])
    assert not found.same
    assert found.response == (Difference("topics[t].partitions[0].error_code", 0, 22),)


def test_one_more_in_between_does_not_shift_the_others() -> None:
    left = [commit("g", at=1), commit("h", at=2), commit("i", at=3)]
    right = [commit("g", at=1), commit("x", at=2), commit("h", at=3), commit("i", at=4)]
    expected = [("g", "g"), (None, "x"), ("h", "h"), ("i", "i")]
    assert names(list(compare(left, right))) == expected
    assert names(list(compare(right, left))) == [(b, a) for a, b in expected]


def test_what_asks_for_something_else_belongs_together_by_api() -> None:
    (found,) = compare([commit("g")], [commit("h")])
    assert found.request == (Difference("group_id", "g", "h"),)
    assert names(list(compare([commit("g")], [heartbeat(0)]))) == [("g", None), (None, "g")]


def test_clients_are_apart_and_brokers_are_not() -> None:
    left = [commit("g", broker=1, at=2), commit("h", broker=2, at=1)]
    right = [commit("h", broker=1, at=1), commit("g", broker=1, at=2)]
    assert all(one.same for one in compare(left, right))
    other = [commit("g", client="b")]
    assert names(list(compare([commit("g")], other))) == [("g", None), (None, "g")]


def test_records_are_compared_not_their_bytes() -> None:
    (same,) = compare([produce(b"v", 1, "none")], [produce(b"v", 2, "gzip")])
    assert same.same
    (found,) = compare([produce(b"v", 1, "none")], [produce(b"w", 1, "none")])
    path = "topic_data[t].partition_data[0].records[0].value"
    assert [one.path for one in found.request] == [path]


def test_versions_may_differ() -> None:
    old, new = heartbeat(0, member_id="m"), heartbeat(3, member_id="n")
    (found,) = compare([old], [new])
    assert found.request == (Difference("group_instance_id", ABSENT, None),)
    (found,) = compare([old], [new], ["group_instance_id"])
    assert [one.path for one in found.request] == ["member_id"]


def test_too_much_is_said() -> None:
    with pytest.raises(TooLarge, match="compare a part"):
        list(compare([commit("g")] * 3, [], limit=25))


def test_names_that_are_known_before_tell_topics_apart() -> None:
    ids = uuid.UUID(int=1), uuid.UUID(int=2)

    def fetch(topic_id: uuid.UUID) -> Exchange:
        topics = [{"topic_id": topic_id, "partitions": [{"partition": 0}]}]
        return recorded("Fetch", 13, {"topics": topics})

    def found(*told: str) -> list[Compared]:
        contexts = Context(), Context()
        for context, topic_id, name in zip(contexts, ids, told, strict=False):
            context.topics[topic_id] = name
        return list(compare([fetch(ids[0])], [fetch(ids[1])], contexts=contexts))

    same = [[one.same for one in found(*told)] for told in ((), ("t", "t"), ("t", "u"))]
    assert same[1:] == [[True], [False]]
    assert same[0] != [True]


BODIES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "index", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [Difference("a", 1, 2)]),
        ({"a": 1}, {}, [Difference("a", 1, ABSENT)]),
        ({}, {"a": None}, [Difference("a", ABSENT, None)]),
        ({"a": False}, {"a": 0}, [Difference("a", False, 0)]),
        # by what identifies elements, in whatever order they come
        ({"p": [{"index": 0}, {"index": 1}]}, {"p": [{"index": 1}, {"index": 0}]}, []),
        (
            {"p": [{"index": 0, "e": 0}]},
            {"p": [{"index": 1, "e": 0}, {"index": 0, "e": 3}]},
            [Difference("p[0].e", 0, 3), Difference("p[1]", ABSENT, {"index": 1, "e": 0})],
        ),
        # nothing identifies them: by their place
        ({"p": [{"e": 0}, {"e": 0}]}, {"p": [{"e": 0}]}, [Difference("p[1]", {"e": 0}, ABSENT)]),
        ({"p": [1, 2]}, {"p": [1, 3]}, [Difference("p[1]", 2, 3)]),
        # two share the name, so the number identifies them
        (
            {"p": [{"name": "a", "index": 1}, {"name": "a", "index": 2}]},
            {"p": [{"name": "a", "index": 2}, {"name": "a", "index": 1}]},
            [],
        ),
        # of the run
        ({"throttle_time_ms": 1, "x": {"host": "a"}}, {"throttle_time_ms": 0, "x": {"host": "b"}}, []),
    ],
)  # fmt: skip
def test_differences(left: Any, right: Any, found: list[Difference]) -> None:
    assert list(differences(left, right)) == found


def test_what_is_ignored_is_named_by_its_end() -> None:
    left = {"brokers": [{"node_id": 1, "rack": "a"}], "rack": "a"}
    right = {"brokers": [{"node_id": 1, "rack": "b"}], "rack": "b"}
    assert [difference.path for difference in differences(left, right, ())] == [
        "brokers[1].rack",
        "rack",
    ]
    assert [difference.path for difference in differences(left, right, ("brokers.rack",))] == [
        "rack"
    ]
    assert list(differences(left, right, ("ra*",))) == []


@given(BODIES, BODIES)
def test_what_differs_for_one_differs_for_the_other(left: Any, right: Any) -> None:
    one, other = differences(left, right, ()), differences(right, left, ())
    assert {(found.path, repr(found.left), repr(found.right)) for found in one} == {
        (found.path, repr(found.right), repr(found.left)) for found in other
    }
