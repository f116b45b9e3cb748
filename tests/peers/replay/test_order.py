from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.generations import GenerationLeaders, RecordedMembers
from barnabas.peers.replay.order import TooLarge, in_order, index


def sized(ts: int, connection: int = 1, size: int = 10) -> Exchange:
    return Exchange(ts, connection, "", "a", 1, 3, 1, 0, size)


def test_the_order_is_that_of_requests() -> None:
    recorded = [sized(5, 1), sized(2, 2), sized(7, 1), sized(6, 2)]
    found = index(recorded)
    assert found.began == 2
    assert found.last == {1: 2, 2: 3}
    assert [one.ts for _, one in in_order(recorded, found.order)] == [2, 5, 6, 7]


def test_what_waits_too_long_is_too_much() -> None:
    recorded = [sized(ts, size=1000) for ts in (3, 4, 5)] + [sized(1)]
    with pytest.raises(TooLarge):
        list(in_order(recorded, index(recorded).order, limit=2500))
    assert len(list(in_order(recorded, index(recorded).order, limit=3500))) == 4


def test_the_latest_generation_of_each_group() -> None:
    members = RecordedMembers[str]()
    for group, generation, member in (("g", 1, "a"), ("h", 1, "b"), ("g", 1, "c"), ("g", 1, "a")):
        members.note(group, generation, member, member)
    assert list(members.of("g", 1)) == ["a", "c"]
    members.note("g", 2, "d", "d")
    assert members.of("g", 1) == {}
    assert list(members.of("g", 2)) == ["d"]
    assert members.of("nobody", 1) == {}


GIVEN = [{"member_id": "a", "assignment": b"1"}, {"member_id": "b", "assignment": b"2"}]


def sync(assignments: list[dict[str, Any]], generation: int = 5) -> dict[str, Any]:
    return {"group_id": "g", "generation_id": generation, "assignments": assignments}


@pytest.mark.parametrize(("leader", "given", "member", "generation", "found"), [
    pytest.param("B", [], "B", 1, GIVEN, id="with the leader of now"),
    pytest.param("B", GIVEN, "A", 1, [], id="not with the leader of then"),
    pytest.param("A", GIVEN, "A", 1, GIVEN, id="the same leader"),
    pytest.param("B", GIVEN, "A", 2, GIVEN, id="a generation that nobody knows"),
])  # fmt: skip
def test_whose_assignments_are_sent(
    leader: str, given: list[dict[str, Any]], member: str, generation: int, found: Any
) -> None:
    leading = GenerationLeaders({("g", 5): GIVEN})
    leading.learn("g", {"error_code": 0, "leader": leader, "generation_id": 1})
    leading.learn("g", {"error_code": 79, "leader": member, "generation_id": 2})
    assert leading.assignments_for(sync(given), member, generation) == found
