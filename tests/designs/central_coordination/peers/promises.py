"""What may never happen in a group of central coordination, looked at as it happens.

All of it is seen from outside: in frames, in what is stored, and in what applications do. Nothing here
asks the coordinator what it thinks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from barnabas.designs.central_coordination.peers.consumer import NOWHERE
from barnabas.designs.central_coordination.peers.interest import Interest, Partition


@dataclass
class Promises:
    """Of one world. Each method raises AssertionError when its promise is broken."""

    stored: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """The offsets of each group that were stored."""
    reported: dict[str, dict[Partition, int]] = field(default_factory=dict)
    """The offsets of each group that its coordinator was told of by who owned the partition."""

    def store(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """No offset goes back: who says less owns the partition no longer, as in a stale commit."""
        known = self.stored.setdefault(group, {})
        for at, offset in offsets.items():
            assert offset >= known.get(at, offset), f"{at}: {offset} stored behind {known[at]}"
            known[at] = offset

    def report(self, group: str, offsets: Mapping[Partition, int]) -> None:
        """A consumer has told its coordinator where it stopped."""
        known = self.reported.setdefault(group, {})
        for at, offset in offsets.items():
            known[at] = max(offset, known.get(at, offset))

    def forget(self, groups: Iterable[str]) -> None:
        """The coordinator has lost these groups, and with them what it was told."""
        for group in groups:
            self.reported.pop(group, None)

    def hand_out(
        self,
        group: str,
        given: Iterable[tuple[Partition, int]],
        interests: Iterable[Interest],
        topics: Mapping[str, Iterable[str]],
        positions: Iterable[Mapping[Partition, int]],
    ) -> None:
        """A round of start-fetcher gives each partition once, all of them, and from where it was left.

        positions: those of the consumers that are started, whether they were asked for them or not.
        """
        rows = list(given)
        owned = [at for at, _ in rows]
        assert len(owned) == len(set(owned)), f"two owners of {owned}"
        wanted = list(interests)
        every = {
            (topic, number)
            for topic, numbers in topics.items()
            if any(one.of(topic) for one in wanted)
            for number in numbers
        }
        assert set(owned) == every, f"{set(owned) ^ every} without an owner, or of no interest"
        known = [self.reported.get(group, {}), *positions]
        for at, offset in rows:
            left = max(one.get(at, NOWHERE) for one in known)
            assert offset >= left, f"{at} starts at {offset}, though it was left at {left}"


def one_fetches(owners: Iterable[tuple[str, Iterable[Partition]]]) -> None:
    """Of consumers that fetch at the same moment no two fetch from the same partition."""
    known: dict[Partition, str] = {}
    for name, partitions in owners:
        for at in partitions:
            other = known.setdefault(at, name)
            assert other == name, f"{other} and {name} both fetch from {at}"
