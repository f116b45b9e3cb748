"""What a rebalance is made of: causes, joins, a generation."""

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
"""Who came together in that time, in ns, has waited for nobody."""

POLL_TIMEOUT: Final = "poll timeout"
"""In the reason of who leaves because it did not poll: Java's `consumer poll timeout has expired.`"""


REASON: Final = 255
"""Clients cut their reasons there (JoinGroupRequest.maybeTruncateReason), so longer ones are odd."""


@dataclass(slots=True)
class Member:
    """Who is in a group."""

    id: str
    client: str
    """Its client id, or its address."""
    client_key: str
    """See `finding.client_key`: members that have it in common may be the same program."""
    instance: str | None
    connection: int
    rebalance_timeout_ms: int
    """How long it may take to join again: max.poll.interval.ms of a consumer."""
    told: int | None = None
    """When it heard that it has to join again, in ns since the epoch."""
    epoch: int = 0
    """Of a group of KIP-848."""

    @classmethod
    def of(cls, exchange: Exchange, id: str, instance: str | None, rebalance_ms: int) -> Member:
        """The member that has sent a request."""
        key, connection = client_key(exchange), exchange.connection
        return cls(id, exchange.client, key, instance, connection, rebalance_ms)

    @property
    def weight(self) -> int:
        """Bytes of its texts, nearly."""
        return weight((self.id, self.client, self.client_key, self.instance))

    def named(self, members: Members) -> str:
        """Its client id, and where others have the same the start of its member id's last part."""
        if members.others(self, self.client):
            return f"{self.client} ({self.id[-36:][:8]})"
        return self.client

    def cause(
        self, what: str, group: str, exchange: Exchange, reason: str, members: Members
    ) -> Cause:
        """A step of this member that begins a rebalance."""
        alike = members.others(self, self.client_key) + 1
        name, said = self.named(members), shorten(reason, REASON)
        return Cause(what, group, name, self, said, alike, evidence(exchange))


class Members(dict[str, Member]):
    """Members by id, and how many have a client id, a client key or an instance in common."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = 0
        """Bytes that they take, nearly."""
        self._having: dict[str, dict[str, None]] = {}
        """By what they have in common: ids."""

    def __setitem__(self, id: str, member: Member) -> None:
        self.discard(id)
        super().__setitem__(id, member)
        self.weight += ELEMENT + member.weight
        for name in self._names(member):
            self._having.setdefault(name, {})[id] = None

    def discard(self, id: str) -> None:
        """Without the member, if it is one."""
        member = self.pop(id, None)
        self.weight -= 0 if member is None else ELEMENT + member.weight
        for name in () if member is None else self._names(member):
            having = self._having[name]
            del having[id]
            if not having:
                del self._having[name]

    def others(self, member: Member, name: str) -> int:
        """How many others have this client id or client key too."""
        having = self._having.get(name, {})
        return len(having) - (member.id in having)

    def static(self, instance: str | None) -> str:
        """The id of a static member; empty if there is none."""
        return next(iter(self._having.get(f"instance {instance}", ())), "")

    @staticmethod
    def _names(member: Member) -> set[str]:
        static = set() if member.instance is None else {f"instance {member.instance}"}
        return {member.client, member.client_key} | static


@dataclass(slots=True)
class Cause:
    """Why a generation began: what a member did, or what became of it."""

    what: str
    group: str
    name: str
    member: Member
    reason: str
    """As the client says (KIP-800); empty if it does not."""
    alike: int
    """Members of the group that may be the same program."""
    evidence: Evidence
    back: Cause | None = None
    """Of who joined: how it had gone."""

    @property
    def weight(self) -> int:
        """Bytes of its texts, nearly."""
        before = 0 if self.back is None else self.back.weight
        return weight((self.group, self.name, self.reason)) + self.member.weight + before

    @property
    def polls_late(self) -> bool:
        """Whether it is gone because it did not poll within max.poll.interval.ms."""
        return self.what == LATE or (self.what in GONE and POLL_TIMEOUT in self.reason.lower())

    def __str__(self) -> str:
        if self.back is not None:
            return f"{self.name} came back"
        return f"{self.name} {self.why}"

    @property
    def why(self) -> str:
        """What, and the reason if one is given."""
        return f"{self.what}: {self.reason}" if self.reason else self.what

    @property
    def in_full(self) -> str:
        """With how it had gone before, if it had."""
        return str(self) if self.back is None else f"{self} (before, {self.back})"


class Join(NamedTuple):
    """A member's JoinGroup that was answered with the generation; times in ns since the epoch."""

    name: str
    member: str
    client: str
    ts: int
    end: int
    told: int | None
    """When it heard that the group rebalances; None: that was not seen, or it is new."""
    new: bool
    evidence: Evidence


class Waited(NamedTuple):
    """For whom a generation waited more than half of its time."""

    kind: str
    """"late": for a member that knew; "absent": for those that never came; "untold": until its next
    heartbeat told it."""
    names: tuple[str, ...]
    members: tuple[str, ...]
    """Their ids."""
    ns: int
    join: Join | None

    def __str__(self) -> str:
        who = listed(self.names, "member", 40)
        if self.kind == "absent":
            return f"{who}, which did not rejoin"
        if self.kind == "untold":
            return f"{who}, notified after {duration(self.ns)}"
        return f"{who}, {duration(self.ns)}"


@dataclass(slots=True)
class Generation:
    """A generation of a group; of one of KIP-848 and its like, a group epoch."""

    group: str
    number: int
    type: str
    """Of the group: classic, consumer, share or streams; of a dialect, its name."""
    protocol: str
    """The assignor's name, as far as it is said."""
    began: int
    """When its first member asked for it; of KIP-848, when the first one was given it."""
    causes: Weighed[Cause] = field(default_factory=Weighed)
    joins: Weighed[Join] = field(default_factory=Weighed)
    members: int | None = None
    """As its leader was told; None: no leader was seen."""
    leader: str = ""
    assigned: int | None = None
    """When the last member knew its partitions."""
    joined: bool = False
    """Whether all that wait in JoinGroup have their answer."""
    over: bool = False
    came: int = 0
    """When the last JoinGroup so far was answered."""
    since: int = 0
    """The same of the generation before: who was told until then was told of that one."""
    awaited: dict[str, str] = field(default_factory=dict)
    """Members of the one before whose JoinGroup was not seen so far: names by id."""
    missed: dict[str, str] = field(default_factory=dict)
    """Those that are known not to have come: the leader was not told of them, or they were fenced."""
    awaited_weight: int = 0
    """Bytes that these two take, nearly."""

    @property
    def weight(self) -> int:
        """Bytes that it takes, nearly."""
        texts = weight((self.group, self.protocol, self.leader))
        return texts + self.causes.weight + self.joins.weight + self.awaited_weight

    def ended(self) -> Generation:
        """It, now that nothing is to come."""
        self.over = True
        return self

    def follows(self, last: Generation, members: Members) -> None:
        """Whoever came together before is awaited, if it is still a member."""
        self.since = last.came
        self.awaited = {one.member: one.name for one in last.joins if one.member in members}
        self.awaited_weight = 2 * weight(self.awaited)

    def join(self, join: Join) -> None:
        """A member has come."""
        self.joins.append(join)
        self.began = min(self.began, join.ts)
        self.came = max(self.came, join.end)
        self.awaited.pop(join.member, None)
        self.missed.pop(join.member, None)

    def told(self, ns: int | None) -> int | None:
        """When a member was told of this generation, if that was not of the one before."""
        return None if ns is None or ns <= self.since else ns

    def followed(self, causes: Weighed[Cause], members: int) -> Generation:
        """The next one, in which nobody was seen any more: numbers grow by one."""
        began = causes[0].evidence.ts
        following = Generation(self.group, self.number + 1, self.type, "", began, causes)
        following.members = members
        return following.ended()

    @property
    def took(self) -> int:
        """From the first JoinGroup to the last answer, in ns."""
        return max(join.end for join in self.joins) - self.first.ts if self.joins else 0

    @property
    def first(self) -> Join:
        """Who came first."""
        return min(self.joins, key=lambda join: join.ts)

    @property
    def waited(self) -> Waited | None:
        """For whom, if for anybody; a newcomer is the last to be suspected."""
        if self.took < BRIEF or (self.awaited and not self.over):
            return None
        last = max(join.ts for join in self.joins)
        if self.missed and self.came - last >= BRIEF:  # not by a member that came
            names = tuple(self.missed.values())
            return Waited("absent", names, tuple(self.missed), self.took, None)
        first, half = self.first, self.took / 2

        def latest(found: Iterable[tuple[int, Join]], kind: str) -> Waited | None:
            ns, join = max(found, key=lambda one: one[0], default=(0, first))
            return Waited(kind, (join.name,), (join.member,), ns, join) if ns > half else None

        old = [join for join in self.joins if not join.new]
        return (
            # before the first one came nobody waited for it
            latest(((join.ts - max(join.told or 0, first.ts), join) for join in old), "late")
            or latest(((join.told - first.ts, join) for join in old if join.told), "untold")
            or latest(((join.ts - first.ts, join) for join in self.joins if join.new), "late")
        )

    @property
    def standstill(self) -> int | None:
        """From the first JoinGroup until the last member knew its partitions, in ns; None: not known, as of
        groups of KIP-848, where members that keep theirs go on."""
        return self.assigned - self.first.ts if self.assigned and self.joins else None

    def row(self) -> dict[str, Any]:
        """In JSON form; texts are short."""
        last = max((join.end for join in self.joins), default=self.began)
        waited = self.waited
        return {
            "group": self.group,
            "generation": self.number,
            "type": self.type,
            "protocol": self.protocol,
            "ts": iso(self.began),
            "members": len(self.joins) if self.members is None else self.members,
            "why": listed(map(str, self.causes), "change", 160, "; "),
            "join_ms": self.took / MS,
            "waited_for": "" if waited is None else str(waited),
            "leader": next(
                (one.name for one in self.joins if one.member == self.leader), self.leader
            ),
            "assignment_ms": None if self.assigned is None else (self.assigned - last) / MS,
        }
