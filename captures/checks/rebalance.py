"""Define the parts of a rebalance: causes, joins, and the generation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.captures.checks.finding import MS, Evidence, client_key, duration, evidence
from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context.memory import ELEMENT, Weighed, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import listed, shorten

JOINED: Final = "joined"
REJOINED: Final = "rejoined"
LEFT: Final = "left"
LATE: Final = "did not rejoin in time"
EXPIRED: Final = "was removed"

GONE: Final = (LEFT, LATE, EXPIRED)

BRIEF: Final = 100 * MS
"""A rebalance of this duration in ns had no delay."""

POLL_TIMEOUT: Final = "poll timeout"
"""In the reason of a member that leaves because it did not poll: Java's `consumer poll timeout has
expired.`"""


REASON: Final = 255
"""Characters to which clients cut their reasons (JoinGroupRequest.maybeTruncateReason)."""


@dataclass(slots=True)
class Member:
    """A member of a group."""

    id: str
    client: str
    """Its client id, or its address."""
    client_key: str
    """See `finding.client_key`: members that share it may be the same program."""
    instance: str | None
    connection: int
    rebalance_timeout_ms: int
    """How long it may take to join again: max.poll.interval.ms of a consumer."""
    notified_at: int | None = None
    """When it learned that it has to join again, in ns since the epoch."""
    epoch: int = 0
    """Its epoch in a group of KIP-848."""

    @classmethod
    def of(cls, exchange: Exchange, id: str, instance: str | None, rebalance_ms: int) -> Member:
        """Return the member that sent a request."""
        key, connection = client_key(exchange), exchange.connection
        return cls(id, exchange.client, key, instance, connection, rebalance_ms)

    @property
    def weight(self) -> int:
        """Return the approximate bytes of its texts."""
        return weight((self.id, self.client, self.client_key, self.instance))

    def named(self, members: Members) -> str:
        """Return its client id, with the start of its member id's last part if others share the client id."""
        if members.others(self, self.client):
            return f"{self.client} ({self.id[-36:][:8]})"
        return self.client

    def cause(
        self, step: str, group: str, exchange: Exchange, reason: str, members: Members
    ) -> Cause:
        """Return a step of this member as the cause of a rebalance."""
        alike = members.others(self, self.client_key) + 1
        name, short_reason = self.named(members), shorten(reason, REASON)
        return Cause(step, group, name, self, short_reason, alike, evidence(exchange))


class Members(dict[str, Member]):
    """Members by id, indexed by shared client ids, client keys and instance ids."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = 0
        """Approximate bytes of all members."""
        self._having: dict[str, dict[str, None]] = {}
        """Member ids by shared name."""

    def __setitem__(self, id: str, member: Member) -> None:
        self.discard(id)
        super().__setitem__(id, member)
        self.weight += ELEMENT + member.weight
        for name in self._names(member):
            self._having.setdefault(name, {})[id] = None

    def discard(self, id: str) -> None:
        """Remove a member if it is present."""
        member = self.pop(id, None)
        self.weight -= 0 if member is None else ELEMENT + member.weight
        for name in () if member is None else self._names(member):
            having = self._having[name]
            del having[id]
            if not having:
                del self._having[name]

    def others(self, member: Member, name: str) -> int:
        """Return how many other members have this client id or client key."""
        having = self._having.get(name, {})
        return len(having) - (member.id in having)

    def static(self, instance: str | None) -> str:
        """Return the id of a static member; empty without one."""
        return next(iter(self._having.get(f"instance {instance}", ())), "")

    @staticmethod
    def _names(member: Member) -> set[str]:
        static = set() if member.instance is None else {f"instance {member.instance}"}
        return {member.client, member.client_key} | static


@dataclass(slots=True)
class Cause:
    """A cause of a generation: a step of a member, or its removal."""

    step: str
    group: str
    name: str
    member: Member
    reason: str
    """The reason that the client gives (KIP-800); empty without one."""
    alike: int
    """Members of the group that may be the same program."""
    evidence: Evidence
    back: Cause | None = None
    """How a newcomer had left before."""

    @property
    def weight(self) -> int:
        """Return the approximate bytes of its texts."""
        before = 0 if self.back is None else self.back.weight
        return weight((self.group, self.name, self.reason)) + self.member.weight + before

    @property
    def polls_late(self) -> bool:
        """Return whether the member left because it did not poll within max.poll.interval.ms."""
        return self.step == LATE or (self.step in GONE and POLL_TIMEOUT in self.reason.lower())

    def __str__(self) -> str:
        if self.back is not None:
            return f"{self.name} came back"
        return f"{self.name} {self.description}"

    @property
    def description(self) -> str:
        """Return the step, with the reason if there is one."""
        return f"{self.step}: {self.reason}" if self.reason else self.step

    @property
    def in_full(self) -> str:
        """Return the cause with the earlier departure of a newcomer, if it had one."""
        return str(self) if self.back is None else f"{self} (before, {self.back})"


class Join(NamedTuple):
    """A member's JoinGroup whose response has the generation; times in ns since the epoch."""

    name: str
    member: str
    client: str
    ts: int
    end: int
    notified_at: int | None
    """When it learned of the rebalance; None: not captured, or a new member."""
    new: bool
    evidence: Evidence


class Delay(NamedTuple):
    """The member for which a generation waited more than half of its duration."""

    kind: str
    """"late": a member that knew of the rebalance; "absent": members that never joined; "untold": a member
    that learned of it with its next heartbeat."""
    names: tuple[str, ...]
    members: tuple[str, ...]
    """Their member ids."""
    ns: int
    join: Join | None

    def __str__(self) -> str:
        names = listed(self.names, "member", 40)
        if self.kind == "absent":
            return f"{names}, which did not rejoin"
        if self.kind == "untold":
            return f"{names}, notified after {duration(self.ns)}"
        return f"{names}, {duration(self.ns)}"


@dataclass(slots=True)
class Generation:
    """A generation of a classic group, or a group epoch of a group of KIP-848, 932 or 1071."""

    group: str
    number: int
    type: str
    """The type of the group: classic, consumer, share or streams; for a dialect its name."""
    protocol: str
    """The assignor's name, if it is known."""
    began: int
    """When the first member sent JoinGroup; for a group epoch, when the first member got it."""
    causes: Weighed[Cause] = field(default_factory=Weighed)
    joins: Weighed[Join] = field(default_factory=Weighed)
    members: int | None = None
    """The members that the leader got; None: no leader was captured."""
    leader: str = ""
    assigned: int | None = None
    """When the last member got its partitions."""
    joined: bool = False
    """Whether all JoinGroups have responses."""
    over: bool = False
    came: int = 0
    """When the latest JoinGroup response was sent."""
    since: int = 0
    """`came` of the generation before: a member that was told by then was told of that generation."""
    awaited: dict[str, str] = field(default_factory=dict)
    """Members of the generation before without a JoinGroup so far: names by id."""
    missed: dict[str, str] = field(default_factory=dict)
    """Members that certainly did not join: the leader did not get them, or they were fenced."""
    awaited_weight: int = 0
    """Approximate bytes of these two."""

    @property
    def weight(self) -> int:
        """Return its approximate size in bytes."""
        texts = weight((self.group, self.protocol, self.leader))
        return texts + self.causes.weight + self.joins.weight + self.awaited_weight

    def ended(self) -> Generation:
        """Mark the generation as over, and return it."""
        self.over = True
        return self

    def follows(self, last: Generation, members: Members) -> None:
        """Await the members that joined the generation before and are still in the group."""
        self.since = last.came
        self.awaited = {join.member: join.name for join in last.joins if join.member in members}
        self.awaited_weight = 2 * weight(self.awaited)

    def join(self, join: Join) -> None:
        """Add the join of a member."""
        self.joins.append(join)
        self.began = min(self.began, join.ts)
        self.came = max(self.came, join.end)
        self.awaited.pop(join.member, None)
        self.missed.pop(join.member, None)

    def notified(self, ns: int | None) -> int | None:
        """Return when a member was told of this generation; None if that concerned the generation before."""
        return None if ns is None or ns <= self.since else ns

    def followed(self, causes: Weighed[Cause], members: int) -> Generation:
        """Return the next generation, of which no member was captured; its number is one higher."""
        began = causes[0].evidence.ts
        following = Generation(self.group, self.number + 1, self.type, "", began, causes)
        following.members = members
        return following.ended()

    @property
    def took(self) -> int:
        """Return the time from the first JoinGroup to the last response, in ns."""
        return max(join.end for join in self.joins) - self.first.ts if self.joins else 0

    @property
    def first(self) -> Join:
        """Return the first join."""
        return min(self.joins, key=lambda join: join.ts)

    @property
    def delay(self) -> Delay | None:
        """Return the member that delayed the generation, if any; newcomers are considered last."""
        if self.took < BRIEF or (self.awaited and not self.over):
            return None
        last = max(join.ts for join in self.joins)
        if self.missed and self.came - last >= BRIEF:  # no member that joined caused the delay
            names = tuple(self.missed.values())
            return Delay("absent", names, tuple(self.missed), self.took, None)
        first, half = self.first, self.took / 2

        def latest(delays: Iterable[tuple[int, Join]], kind: str) -> Delay | None:
            ns, join = max(delays, key=lambda delay: delay[0], default=(0, first))
            return Delay(kind, (join.name,), (join.member,), ns, join) if ns > half else None

        old = [join for join in self.joins if not join.new]
        return (
            # nothing waited for it before the first JoinGroup
            latest(((join.ts - max(join.notified_at or 0, first.ts), join) for join in old), "late")
            or latest(
                ((join.notified_at - first.ts, join) for join in old if join.notified_at), "untold"
            )
            or latest(((join.ts - first.ts, join) for join in self.joins if join.new), "late")
        )

    @property
    def standstill(self) -> int | None:
        """Return the time from the first JoinGroup until the last member got its partitions, in ns.

        None: unknown, as for groups of KIP-848, whose members keep consuming the partitions that they retain.
        """
        return self.assigned - self.first.ts if self.assigned and self.joins else None

    def row(self) -> dict[str, Any]:
        """Return the generation in JSON form, with short texts."""
        last = max((join.end for join in self.joins), default=self.began)
        delay = self.delay
        return {
            "group": self.group,
            "generation": self.number,
            "type": self.type,
            "protocol": self.protocol,
            "ts": iso(self.began),
            "members": len(self.joins) if self.members is None else self.members,
            "why": listed(map(str, self.causes), "change", 160, "; "),
            "join_ms": self.took / MS,
            "waited_for": "" if delay is None else str(delay),
            "leader": next(
                (member.name for member in self.joins if member.member == self.leader), self.leader
            ),
            "assignment_ms": None if self.assigned is None else (self.assigned - last) / MS,
        }
