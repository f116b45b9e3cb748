from __future__ import annotations

import itertools
import uuid
from typing import Any

import pytest

from barnabas.peers.replay.plan import SENT
from barnabas.peers.replay.versions import NotReplayable, convert, version_for
from barnabas.specs import api, records
from barnabas.specs.records import Record

ID = uuid.UUID(int=4)


@pytest.mark.parametrize(
    ("wanted", "offered", "found"),
    [(11, (4, 16), 11), (3, (4, 16), 4), (18, (4, 16), 16), (18, (4, 99), 18)],
)
def test_the_nearest_version_that_both_know(
    wanted: int, offered: tuple[int, int], found: int
) -> None:
    assert version_for(1, wanted, {1: offered}) == found


def test_no_version_that_both_know() -> None:
    with pytest.raises(NotReplayable, match="the live cluster does not offer Fetch"):
        version_for(1, 11, {})
    with pytest.raises(NotReplayable, match="no known version of Fetch"):
        version_for(1, 11, {1: (90, 99)})


def fetch(**topic: Any) -> dict[str, Any]:
    return {"max_bytes": 5, "rack_id": "", "topics": [{**topic, "partitions": []}]}


GROUPS = [{"group_id": "g", "topics": None}]
MEMBERS = [{"member_id": "m", "group_instance_id": None}]
LEAVES = {"group_id": "g", "member_id": "m"}
CONVERTED = [
    (3, {"topics": [{"name": "t"}]}, 1, 1, {"topics": [{"name": "t"}]}),
    (1, fetch(topic_id=ID), 13, 12, fetch(topic="t")),
    (1, fetch(topic="t"), 12, 13, fetch(topic_id=ID)),
    (1, fetch(topic="t"), 12, 10, {"max_bytes": 5, "topics": fetch(topic="t")["topics"]}),
    (10, {"key_type": 1, "coordinator_keys": ["x"]}, 4, 1, {"key": "x", "key_type": 1}),
    (10, {"key_type": 0, "coordinator_keys": ["x"]}, 4, 0, {"key": "x"}),
    (9, GROUPS[0], 7, 8, {"groups": GROUPS}),
    (9, {"groups": [{**GROUPS[0], "member_id": "m", "member_epoch": 1}]}, 9, 7, GROUPS[0]),
    (13, {"group_id": "g", "members": MEMBERS}, 3, 2, LEAVES),
    (13, LEAVES, 2, 3, {"group_id": "g", "members": [{"member_id": "m"}]}),
]


@pytest.mark.parametrize(("key", "body", "before", "after", "found"), CONVERTED)
def test_another_version(
    key: int, body: dict[str, Any], before: int, after: int, found: dict[str, Any]
) -> None:
    assert convert(key, body, before, after, {ID: "t"}) == found
    api(key).request.codec(after).encode(found)


OLDER = records.build([Record(0, 1, None, b"v")], magic=1)


OLD_BATCH = {"name": "t", "partition_data": [{"index": 0, "records": OLDER}]}
STATIC = [{"member_id": "", "group_instance_id": "i"}]
NOT_CONVERTED = [
    (1, fetch(topic_id=uuid.UUID(int=9)), 13, 12, "names the topic with id"),
    (1, fetch(topic="u"), 12, 13, "needs the id of topic 'u'"),
    (10, {"key_type": 0, "coordinator_keys": ["x", "y"]}, 4, 3, "2 keys at once"),
    (11, {"group_id": "g", "group_instance_id": "i"}, 5, 4, "has no group_instance_id, .* 'i'"),
    (9, {"group_id": "g", "topics": None}, 2, 1, "does not accept null as topics"),
    (13, {"group_id": "g", "members": STATIC}, 3, 2, "a static member leaves"),
    (0, {"topic_data": [OLD_BATCH]}, 2, 3, "does not accept records of magic 1"),
    (0, {"transactional_id": "x", "topic_data": []}, 12, 11, "adds its partitions to the"),
]


@pytest.mark.parametrize(("key", "body", "before", "after", "why"), NOT_CONVERTED)
def test_what_a_version_can_not_say(
    key: int, body: dict[str, Any], before: int, after: int, why: str
) -> None:
    with pytest.raises(NotReplayable, match=why):
        convert(key, body, before, after, {ID: "t"})


@pytest.mark.parametrize("key", sorted(SENT))
def test_what_says_nothing_is_no_obstacle(key: int) -> None:
    first, last = api(key).versions
    versions = range(first, last + 1)
    said = set()
    for before, after in itertools.product(versions, versions):
        body = api(key).request.layout(before).defaults()
        try:
            found = convert(key, body, before, after, {})
        except NotReplayable as problem:
            said.add(str(problem))
        else:
            api(key).request.codec(after).encode(found)
    assert all(problem.startswith("0 ") for problem in said)  # keys, groups, members at once
