from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.replay.leading import Leading

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
    leading = Leading({("g", 5): GIVEN})
    leading.learn("g", {"error_code": 0, "leader": leader, "generation_id": 1})
    leading.learn("g", {"error_code": 79, "leader": member, "generation_id": 2})
    assert leading.given(sync(given), member, generation) == found
