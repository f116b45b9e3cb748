"""Store the known state of groups and their generations, in bounded memory for each group and for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.checks.group_messages import GroupMessage, ReadGroupMessages
from barnabas.captures.checks.rebalance import REASON, Cause, Generation, Member, Members
from barnabas.captures.kafka.context.memory import BYTES, Memory, Weighed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import member_name, shorten

REMOVED: Final = ("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH")
"""The coordinator's errors for a member that it has removed."""


@dataclass(slots=True)
class Group:
    """The known state of a group."""

    losses: int
    members: Members = field(default_factory=Members)
    now: Generation | None = None
    pending: Weighed[Cause] = field(default_factory=Weighed)
    """Causes of the next generation."""
    listed: set[str] = field(default_factory=set)
    """Members of the current generation, as the leader of a classic group got them."""
    before: set[str] = field(default_factory=set)
    """Members of the generation before."""
    listed_weight: int = 0
    """Approximate bytes of these two."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        now = 0 if self.now is None else self.now.weight
        return self.members.weight + self.pending.weight + now + self.listed_weight

    def member(self, member: str, listed: set[str]) -> Member | None:
        """Return a member; if only its id is known from the list, a member with just that."""
        state = self.members.get(member)
        if state is None and member in listed:
            state = Member(member, member_name(member), "", None, -1, 0)
        return state


class Absences(Memory[tuple[str, str, str | int], Cause]):
    """Members that left a group, with the cause, until they return on the same connection or another."""

    def began(self, member: Member, cause: Cause) -> None:
        """Note the departure of a member."""
        for key in self._keys(cause.group, member):
            self[key] = cause

    def ended(self, group: str, member: Member) -> Cause | None:
        """Return how a newcomer had left before, and forget it; None: unknown, or another client."""
        _, *keys = self._keys(group, member)
        cause = next((self[key] for key in keys if key in self), None)
        if cause is not None:
            for key in self._keys(group, cause.member):
                if self.get(key) is cause:
                    del self[key]
        return cause

    def explained(self, group: str, member: str, reason: str) -> None:
        """Add the reason that a removed member gives when it leaves."""
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
    """The state of all groups in exchanges; `read` returns the group messages of an exchange."""

    def __init__(self, read: ReadGroupMessages, bytes_: int = BYTES) -> None:
        self._read = read
        self._bytes = bytes_
        self._groups: Memory[str, Group] = Memory(bytes_=bytes_)
        self._absent = Absences(bytes_=bytes_)

    def learn(self, exchange: Exchange) -> Iterator[Cause | Generation]:
        """Yield the causes and generations that an exchange reveals.

        Causes come at once. A generation comes when its members leave JoinGroup, and again, `over`, when the
        next one begins.
        """
        for message in self._read(exchange):
            yield from self._learn(message, exchange.losses)

    def _learn(self, message: GroupMessage, losses: int) -> Iterator[Cause | Generation]:
        group = self._groups.get(message.group)
        if group is None or group.losses != losses:
            if group is not None and group.now is not None:
                yield group.now.ended()
            group = Group(losses)
        yield from self._take(message, group)
        self._groups[message.group] = group
        if group.weight > self._bytes:  # like after a gap, the state is unknown
            del self._groups[message.group]
            if group.now is not None:
                yield group.now.ended()

    def present(self) -> Iterator[Generation]:
        """Yield the generations that are not over."""
        for group in self._groups.values():
            if group.now is not None:
                yield group.now

    def states(self) -> Iterator[tuple[str, Group]]:
        """Yield the name and the known state of each group."""
        yield from self._groups.items()

    def finish(self) -> Iterator[Generation]:
        """Yield the last generations at the end of the capture.

        Each is followed by the next generation if that has causes already.
        """
        for group in self._groups.values():
            if group.now is not None:
                yield group.now.ended()
                if group.pending:
                    yield group.now.followed(group.pending, len(group.members))

    @abstractmethod
    def _take(self, message: GroupMessage, group: Group) -> Iterator[Cause | Generation]:
        """Yield what a group message reveals."""
