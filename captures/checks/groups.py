"""What is known of groups and their generations, in bounded memory for each group and for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.answered import Answered, Read
from barnabas.captures.checks.rebalance import REASON, Cause, Generation, Member, Members
from barnabas.captures.kafka.context.memory import BYTES, Memory, Weighed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import member_name, shorten

REMOVED: Final = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")
"""What the coordinator of such a group answers to a member that it has removed."""


@dataclass(slots=True)
class Group:
    """What is known of a group."""

    losses: int
    members: Members = field(default_factory=Members)
    now: Generation | None = None
    pending: Weighed[Cause] = field(default_factory=Weighed)
    """What will have begun the next generation."""
    listed: set[str] = field(default_factory=set)
    """Members of the present generation, as the leader of a classic group was told."""
    before: set[str] = field(default_factory=set)
    """Those of the generation before."""
    listed_weight: int = 0
    """Bytes that these two take, nearly."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        now = 0 if self.now is None else self.now.weight
        return self.members.weight + self.pending.weight + now + self.listed_weight

    def member(self, member: str, listed: set[str]) -> Member | None:
        """Who is in it; of one that nobody has seen join, only the id is known."""
        one = self.members.get(member)
        if one is None and member in listed:
            one = Member(member, member_name(member), "", None, -1, 0)
        return one


class Absences(Memory[tuple[str, str, str | int], Cause]):
    """Members that have gone from a group, and how, until they come back on their connection or another."""

    def began(self, member: Member, cause: Cause) -> None:
        """A member has gone."""
        for key in self._keys(cause.group, member):
            self[key] = cause

    def ended(self, group: str, member: Member) -> Cause | None:
        """How a newcomer had gone before; None: it was not seen, or is somebody else."""
        _, *keys = self._keys(group, member)
        cause = next((self[key] for key in keys if key in self), None)
        if cause is not None:
            for key in self._keys(group, cause.member):
                if self.get(key) is cause:
                    del self[key]
        return cause

    def explained(self, group: str, member: str, reason: str) -> None:
        """A member that had been removed says why it leaves."""
        cause = self.get((group, "member", member))
        if cause is not None and not cause.reason:
            cause.reason = shorten(reason, REASON)

    @staticmethod
    def _keys(group: str, member: Member) -> tuple[tuple[str, str, str | int], ...]:
        return (
            (group, "member", member.id),
            (group, "connection", member.connection),
            (group, "client", member.client_key),
        )


class Groups(ABC):
    """What exchanges say of groups, in the order in which they end; read: what one says."""

    def __init__(self, read: Read, bytes_: int = BYTES) -> None:
        self._read = read
        self._bytes = bytes_
        self._groups: Memory[str, Group] = Memory(bytes_=bytes_)
        self._absent = Absences(bytes_=bytes_)

    def learn(self, exchange: Exchange) -> Iterator[Cause | Generation]:
        """What an exchange shows: causes at once, a generation when its members go on from JoinGroup
        and again, `over`, when another one begins."""
        for seen in self._read(exchange):
            yield from self._learn(seen, exchange.losses)

    def _learn(self, seen: Answered, losses: int) -> Iterator[Cause | Generation]:
        group = self._groups.get(seen.group)
        if group is None or group.losses != losses:
            if group is not None and group.now is not None:
                yield group.now.ended()
            group = Group(losses)
        yield from self._take(seen, group)
        self._groups[seen.group] = group
        if group.weight > self._bytes:  # as behind a gap: what it was is not known any more
            del self._groups[seen.group]
            if group.now is not None:
                yield group.now.ended()

    def present(self) -> Iterator[Generation]:
        """Those that are not over."""
        for group in self._groups.values():
            if group.now is not None:
                yield group.now

    def finish(self) -> Iterator[Generation]:
        """Those that no other one has followed; and the next one, if it is known why it would begin."""
        for group in self._groups.values():
            if group.now is not None:
                yield group.now.ended()
                if group.pending:
                    yield group.now.followed(group.pending, len(group.members))

    @abstractmethod
    def _take(self, seen: Answered, group: Group) -> Iterator[Cause | Generation]:
        """What such an exchange says."""
