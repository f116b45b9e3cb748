"""Generations of the live groups: their members and leaders.

Members that joined one generation in the recording meet in one live generation. The first member of a group
may get a generation of its own before the others arrive; then the others wait until it joins again. A client
does so when its SyncGroup or Heartbeat gets REBALANCE_IN_PROGRESS; the recorded one does not, since it met
the others at once. The recorded assignments go with the SyncGroup of the live leader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from barnabas.peers.replay.order import Generation

T = TypeVar("T")

REJOIN_AFTER: Final = 1.0
"""Seconds that a JoinGroup waits before the others join again."""


@dataclass(slots=True)
class Member(Generic[T]):
    """A member's answered JoinGroup for a recorded generation, and its SyncGroup once that was sent."""

    join: T
    sync: T | None = None


@dataclass(slots=True)
class RecordedMembers(Generic[T]):
    """The members of each group's latest recorded generation whose JoinGroups were answered."""

    _latest: dict[str, tuple[int, dict[str, Member[T]]]] = field(default_factory=dict)
    """Group -> recorded generation, recorded member id -> the member."""

    def note(self, group: str, generation: int, member: str, join: T) -> None:
        """Add an answered JoinGroup, by its recorded generation and member id."""
        if self._latest.get(group, (None,))[0] != generation:
            self._latest[group] = generation, {}
        self._latest[group][1].setdefault(member, Member(join)).join = join

    def of(self, group: str, generation: int) -> Mapping[str, Member[T]]:
        """Return the members of a generation by recorded member id.

        >>> members = RecordedMembers[str]()
        >>> members.note("g", 4, "a", "join of a")
        >>> members.of("g", 4), members.of("g", 5)
        ({'a': Member(join='join of a', sync=None)}, {})
        """
        latest, members = self._latest.get(group, (None, {}))
        return members if latest == generation else {}

    def sender(self, sync: Mapping[str, Any] | None) -> Member[T] | None:
        """Return the member that sends a recorded SyncGroup; None: its JoinGroup was not answered."""
        if sync is None:
            return None
        return self.of(sync["group_id"], sync["generation_id"]).get(sync["member_id"])


@dataclass(slots=True)
class GenerationLeaders:
    """The leaders of the live groups' generations. assignments: of the recorded leaders."""

    assignments: Mapping[Generation, list[dict[str, Any]]]
    _leaders: dict[Generation, str] = field(default_factory=dict)

    def learn(self, group: str, joined: dict[str, Any]) -> None:
        """Learn a generation's leader from the response to a live JoinGroup."""
        if not joined["error_code"] and joined["leader"]:
            self._leaders[group, joined["generation_id"]] = joined["leader"]

    def assignments_for(
        self, recorded: dict[str, Any], member: str, generation: int
    ) -> list[dict[str, Any]]:
        """Return the assignments of a SyncGroup, with recorded member ids.

        Args:
            recorded: the recorded request.
            member: live id of the member that sends it.
            generation: live generation.

        >>> leading = GenerationLeaders({("g", 5): [{"member_id": "a", "assignment": b""}]})
        >>> leading.learn("g", {"error_code": 0, "leader": "B", "generation_id": 1})
        >>> sync = {"group_id": "g", "generation_id": 5, "assignments": []}
        >>> leading.assignments_for(sync, "A", 1), leading.assignments_for(sync, "B", 1)
        ([], [{'member_id': 'a', 'assignment': b''}])
        """
        group = recorded["group_id"]
        leader = self._leaders.get((group, generation))
        if leader is None:
            recorded_assignments: list[dict[str, Any]] = recorded["assignments"]
            return recorded_assignments
        return (
            self.assignments.get((group, recorded["generation_id"]), []) if leader == member else []
        )
