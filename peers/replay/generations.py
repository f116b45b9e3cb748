"""Generations of the live groups: who meets in them, and who leads them.

Members that joined one generation in the recording meet in one live generation. Who comes to a group first
may have a generation of its own before the others are there; then the others wait until it joins again. A
client does so when its Heartbeat is told REBALANCE_IN_PROGRESS; the recorded one does not, since it met the
others at once. The recorded assignments go with the SyncGroup of whoever leads now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from barnabas.peers.replay.order import Generation

T = TypeVar("T")

ALONE: Final = 1.0
"""Seconds that a JoinGroup waits before the others join again."""


@dataclass(slots=True)
class Joined(Generic[T]):
    """The joins of each group's latest recorded generation that were answered."""

    _latest: dict[str, tuple[int, dict[str, T]]] = field(default_factory=dict)
    """Group -> recorded generation, recorded member id -> the join."""

    def note(self, group: str, generation: int, member: str, join: T) -> None:
        """A join was answered. generation, member: as recorded."""
        if self._latest.get(group, (None,))[0] != generation:
            self._latest[group] = generation, {}
        self._latest[group][1][member] = join

    def others(self, group: str, generation: int, member: str) -> list[T]:
        """The joins of the others of a generation.

        >>> joined = Joined[str]()
        >>> joined.note("g", 4, "a", "join of a")
        >>> joined.others("g", 4, "b"), joined.others("g", 4, "a"), joined.others("g", 5, "b")
        (['join of a'], [], [])
        """
        latest, joins = self._latest.get(group, (None, {}))
        if latest != generation:
            return []
        return [join for other, join in joins.items() if other != member]


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
