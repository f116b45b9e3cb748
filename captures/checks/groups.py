"""What is known of groups and their generations, in bounded memory for each group and for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeVar

from barnabas.captures.checks.finding import answered
from barnabas.captures.checks.rebalance import REASON, Cause, Generation, Member, Members
from barnabas.captures.kafka.context.memory import BYTES, Memory, Weighed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import shorten

GROUP_APIS: Final = (
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "OffsetCommit",
    "TxnOffsetCommit",
    "ConsumerGroupHeartbeat",
    "ShareGroupHeartbeat",
    "StreamsGroupHeartbeat",
)
"""The APIs by which members of groups come, stay, commit and go."""


@dataclass(slots=True)
class Group:
    """What is known of a group."""

    losses: int
    members: Members = field(default_factory=Members)
    now: Generation | None = None
    pending: Weighed[Cause] = field(default_factory=Weighed)
    """What will have begun the next generation."""
    more: int = 0
    """Bytes of what else is kept of it, nearly."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        now = 0 if self.now is None else self.now.weight
        return self.members.weight + self.pending.weight + now + self.more


class Absences:
    """Members that have gone from a group, and how, until they come back on their connection or another."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._known: Memory[tuple[str, str, str | int], Cause] = Memory(bytes_=bytes_)

    @property
    def weight(self) -> int:
        """Bytes that is kept of them, nearly."""
        return self._known.weight

    def began(self, member: Member, cause: Cause) -> None:
        """A member has gone."""
        for key in self._keys(cause.group, member):
            self._known[key] = cause

    def ended(self, group: str, member: Member) -> Cause | None:
        """How a newcomer had gone before; None: it was not seen, or is somebody else."""
        _, *keys = self._keys(group, member)
        cause = next((self._known[key] for key in keys if key in self._known), None)
        if cause is not None:
            for key in self._keys(group, cause.member):
                if self._known.get(key) is cause:
                    del self._known[key]
        return cause

    def explained(self, group: str, member: str, reason: str) -> None:
        """A member that had been removed says why it leaves."""
        cause = self._known.get((group, "member", member))
        if cause is not None and not cause.reason:
            cause.reason = shorten(reason, REASON)

    @staticmethod
    def _keys(group: str, member: Member) -> tuple[tuple[str, str, str | int], ...]:
        return (
            (group, "member", member.id),
            (group, "connection", member.connection),
            (group, "client", member.client_key),
        )


G = TypeVar("G", bound=Group)

Body = dict[str, Any]


class Answered(NamedTuple):
    """An exchange about a group, which was answered."""

    exchange: Exchange
    group: str
    request: Body
    response: Body
    end: int
    """When the client had the answer, in ns since the epoch."""


class Groups(ABC, Generic[G]):
    """What exchanges say of groups, in the order in which they end."""

    def __init__(self, begin: Callable[[int], G], bytes_: int = BYTES) -> None:
        self._begin = begin
        self._bytes = bytes_
        self._groups: Memory[str, G] = Memory(bytes_=bytes_)
        self._absent = Absences(bytes_)

    def learn(self, exchange: Exchange) -> Iterator[Cause | Generation]:
        """What an exchange shows: causes at once, a generation when its members go on from JoinGroup
        and again, `over`, when another one begins."""
        if not self._says(exchange):
            return
        request, response, end = exchange.request, exchange.response, answered(exchange)
        if not request or not response or end is None:
            return
        name = request["group_id"]
        group = self._groups.get(name)
        if group is None or group.losses != exchange.losses:
            if group is not None and group.now is not None:
                yield group.now.ended()
            group = self._begin(exchange.losses)
        yield from self._take(Answered(exchange, name, request, response, end), group)
        self._groups[name] = group
        if group.weight > self._bytes:  # as behind a gap: what it was is not known any more
            del self._groups[name]
            if group.now is not None:
                yield group.now.ended()

    def finish(self) -> Iterator[Generation]:
        """Those that no other one has followed; and the next one, if it is known why it would begin."""
        for group in self._groups.values():
            if group.now is not None:
                yield group.now.ended()
                if group.pending:
                    yield group.now.followed(group.pending, len(group.members))

    @property
    def weight(self) -> int:
        """Bytes that is kept of all of them, nearly."""
        return self._groups.weight + self._absent.weight

    @abstractmethod
    def _says(self, exchange: Exchange) -> bool:
        """Whether such an exchange says anything of a generation."""

    @abstractmethod
    def _take(self, seen: Answered, group: G) -> Iterator[Cause | Generation]:
        """What such an exchange says."""
