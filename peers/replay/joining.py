"""Members that joined one generation in the recording meet in one live generation.

Who comes to a group first may have a generation of its own before the others are there; then the
others wait until it joins again. A client does so when its Heartbeat is told REBALANCE_IN_PROGRESS; the
recorded one does not, since it met the others at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

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
