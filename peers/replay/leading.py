"""The leader of a group's generation: the recorded assignments go with the SyncGroup of whoever leads now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from barnabas.peers.replay.order import Generation


@dataclass(slots=True)
class Leading:
    """Who leads which generation of the live groups. assignments: what the recorded leaders gave."""

    assignments: Mapping[Generation, list[dict[str, Any]]]
    _leaders: dict[Generation, str] = field(default_factory=dict)

    def learn(self, group: str, joined: dict[str, Any]) -> None:
        """Take what a live JoinGroup was answered."""
        if not joined["error_code"] and joined["leader"]:
            self._leaders[group, joined["generation_id"]] = joined["leader"]

    def given(self, recorded: dict[str, Any], member: str, generation: int) -> list[dict[str, Any]]:
        """The assignments that go with a SyncGroup, with recorded member ids.

        member, generation: the live ones of who sends it.

        >>> leading = Leading({("g", 5): [{"member_id": "a", "assignment": b""}]})
        >>> leading.learn("g", {"error_code": 0, "leader": "B", "generation_id": 1})
        >>> sync = {"group_id": "g", "generation_id": 5, "assignments": []}
        >>> leading.given(sync, "A", 1), leading.given(sync, "B", 1)
        ([], [{'member_id': 'a', 'assignment': b''}])
        """
        group = recorded["group_id"]
        leader = self._leaders.get((group, generation))
        if leader is None:
            given: list[dict[str, Any]] = recorded["assignments"]
            return given
        return (
            self.assignments.get((group, recorded["generation_id"]), []) if leader == member else []
        )
