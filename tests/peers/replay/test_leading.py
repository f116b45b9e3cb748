from __future__ import annotations

from typing import Any

from barnabas.peers.replay.leading import Leading

GIVEN = [{"member_id": "a", "assignment": b"1"}, {"member_id": "b", "assignment": b"2"}]


def sync(assignments: list[dict[str, Any]], generation: int = 5) -> dict[str, Any]:
    return {"group_id": "g", "generation_id": generation, "assignments": assignments}


def leading() -> Leading:
    found = Leading({("g", 5): GIVEN})
    found.learn("g", {"error_code": 0, "leader": "B", "generation_id": 1})
    return found


def test_assignments_go_with_the_leader_of_now() -> None:
    assert leading().given(sync([]), "B", 1) == GIVEN
    assert leading().given(sync(GIVEN), "A", 1) == []


def test_the_same_leader_has_its_own() -> None:
    found = leading()
    found.learn("g", {"error_code": 0, "leader": "A", "generation_id": 1})
    assert found.given(sync(GIVEN), "A", 1) == GIVEN


def test_of_a_generation_that_nobody_knows_they_stay() -> None:
    assert leading().given(sync(GIVEN), "A", 2) == GIVEN
    found = leading()
    found.learn("g", {"error_code": 79, "leader": "A", "generation_id": 2})
    assert found.given(sync(GIVEN), "C", 2) == GIVEN
