"""`heartbeats`: members of a group show that they live in good time.

Classic groups: the client names a session timeout when it joins, and the coordinator throws out whom
it has not heard for so long; a commit counts as being heard. Kafka's documentation of
heartbeat.interval.ms asks for at most a third of the session timeout. A client that beats twice a session
(3 s, the default, in a session of 6 s, the least that brokers allow by default) is out of the group when
one heartbeat is lost: a warning. Members of the groups of KIP-848, 932
and 1071 are told an interval by the broker, and nothing but their heartbeats keeps them in the group
(OffsetMetadataManager.validateOffsetCommit starts the timers of classic groups only). Their session is
the broker's own affair, not on the wire: how long a silence may be, only its answer says.

Silences in a row are one finding: when a heartbeat is in time again, the member goes, or the capture ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.checks.facts import GROUP, GROUP_TYPES
from barnabas.captures.checks.finding import (
    MS,
    Check,
    Evidence,
    Finding,
    duration,
    evidence,
)
from barnabas.captures.checks.groups import REMOVED
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, OFFSET_COMMIT, SYNC_GROUP

REBALANCE_IN_PROGRESS: Final = "REBALANCE_IN_PROGRESS"
SESSION_ADVICE: Final = (
    "Set heartbeat.interval.ms to at most a third of session.timeout.ms, and look for pauses of "
    "the process."
)
REMOVED_ADVICE: Final = (
    "The coordinator removes such a member and the group rebalances: look for long pauses of the "
    "process, or raise session.timeout.ms."
)
INTERVAL_ADVICE: Final = (
    "Look for pauses of the process; after group.consumer.session.timeout.ms (45 s by default) "
    "the broker fences the member."
)


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """When a heartbeat is late."""

    share: float = 1 / 3
    """Of the session timeout, between two signs of life in a classic group."""
    intervals: float = 2.0
    """How many of the broker's intervals, from a response to the next heartbeat."""
    grace_ms: float = 500.0
    """A timer may fire late by that much."""


@dataclass(slots=True)
class _Alive:
    since: int
    """Last sign of life, in ns since the epoch."""
    timeout_ms: int
    """The session timeout or the broker's interval."""
    classic: bool
    """Whether it is the session timeout; else nothing but heartbeats are signs of life."""
    losses: int
    evidence: Evidence
    counted: bool = False
    """Whether this silence was too long at a commit already, before the heartbeat that ends it."""

    def overdue(self, exchange: Exchange, settings: Heartbeats) -> float | None:
        """How long it has been silent before this, in ms; None if that is not too long."""
        gap = (exchange.ts - self.since) / MS
        share = settings.share if self.classic else settings.intervals
        return gap if gap > self.timeout_ms * share + settings.grace_ms else None

    def expired(self, exchange: Exchange, gap: float) -> bool:
        """Whether a silence of so many ms has cost the member its place in the group."""
        if self.classic:
            return gap > self.timeout_ms
        return exchange.key in GROUP_TYPES and exchange.error in REMOVED


@dataclass(slots=True)
class _Spell:
    """Silences of a member in a row that were too long, but had no consequence yet."""

    classic: bool
    count: int = 0
    commits: bool = False
    """Whether the member committed in one of them, though that is no sign of life there."""
    longest_ms: float = 0
    timeout_ms: int = 0
    """See `_Alive`; at the longest."""
    evidence: tuple[Evidence, ...] = ()
    """Of the longest."""

    def finding(self, who: str) -> Finding:
        """The finding about all of them."""
        longest, limit = duration(self.longest_ms * MS), duration(self.timeout_ms * MS)
        rule, advice = f"the broker asked for a heartbeat every {limit}", INTERVAL_ADVICE
        if self.classic:
            rule, advice = f"its session timeout is {limit}", SESSION_ADVICE
        what = f"was silent for {longest}"
        if self.count > 1:
            what = f"was silent for too long {self.count} times in a row, at most for {longest}"
        elif self.commits:
            what = f"commits, but has sent no heartbeat for {longest}"
        if self.commits:
            advice = f"Commits do not keep a member in such a group. {advice}"
        return Finding("warning", f"{who} {what}; {rule}", advice, self.evidence)


_Key = tuple[str, str]
"""Group and member."""


class _Members:
    """The members of a capture's groups, and their silences."""

    def __init__(self, settings: Heartbeats) -> None:
        self._settings = settings
        self._alive: Memory[_Key, _Alive] = Memory()
        self._spells: Memory[_Key, _Spell] = Memory()

    def __call__(self, exchange: Exchange, context: Context) -> Iterator[Finding]:
        """See an exchange."""
        said = GROUP.of(exchange) if exchange.key in _KEYS else None
        if said is None or not said.request:
            return
        request = said.request
        if exchange.key == LEAVE_GROUP:
            for member in request.get("members", [request]):
                key = request["group_id"], member["member_id"]
                self._alive.pop(key, None)
                yield from self._spell_over(key)
            return
        key = request["group_id"], request.get("member_id", "")
        alive = self._alive.get(key)
        if alive is not None:
            whole = alive.losses == exchange.losses
            gap = alive.overdue(exchange, self._settings) if whole else None
            if gap is not None:
                if _shows(exchange, request, alive):
                    yield from self._late(exchange, alive, key, gap)
            elif not whole or exchange.key in _BEATS:
                yield from self._spell_over(key)
        _learn(exchange, request, said.response, self._alive, key, alive)
        if key not in self._alive:
            yield from self._spell_over(key)

    def finish(self) -> Iterator[Finding]:
        """The capture is over: the spells that are not."""
        for key in list(self._spells):
            yield from self._spell_over(key)

    def _spell_over(self, key: _Key) -> Iterator[Finding]:
        spell = self._spells.pop(key, None)
        if spell is not None:
            yield spell.finding(_who(key, spell.evidence[-1]))

    def _late(self, exchange: Exchange, alive: _Alive, key: _Key, gap: float) -> Iterator[Finding]:
        mine = evidence(exchange)
        seen = alive.evidence, mine
        if alive.expired(exchange, gap):
            yield from self._spell_over(key)
            yield _expired(
                exchange, alive, f"{_who(key, mine)} was silent for {duration(gap * MS)}", seen
            )
            return
        spell = self._spells.get(key, _Spell(alive.classic))
        spell.count += not alive.counted
        if not alive.classic and exchange.key == OFFSET_COMMIT:
            alive.counted = spell.commits = True
        if gap > spell.longest_ms:
            spell.longest_ms, spell.timeout_ms, spell.evidence = gap, alive.timeout_ms, seen
        self._spells[key] = spell


def _shows(exchange: Exchange, request: dict[str, Any], alive: _Alive) -> bool:
    """Whether a member that sends this may be judged by how long it was silent."""
    if exchange.key in GROUP_TYPES:
        return not alive.classic and request["member_epoch"] > 0
    if exchange.key == OFFSET_COMMIT:
        # responses of a connection come in the order of requests: no heartbeat is under way there
        return exchange.connection == alive.evidence.connection
    return alive.classic and exchange.key == HEARTBEAT


def _expired(exchange: Exchange, alive: _Alive, silent: str, seen: tuple[Evidence, ...]) -> Finding:
    limit = duration(alive.timeout_ms * MS)
    if alive.classic:
        return Finding("error", f"{silent}; its session timeout is {limit}", REMOVED_ADVICE, seen)
    what = f"{silent}; the broker asked for a heartbeat every {limit} and now answers "
    return Finding("error", f"{what}{exchange.error}", INTERVAL_ADVICE, seen)


def _who(key: _Key, last: Evidence) -> str:
    return f"group {key[0]}: member {key[1]} ({last.client})"


_BEATS: Final = (HEARTBEAT, *GROUP_TYPES)
_KEYS: Final = (JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, OFFSET_COMMIT, *_BEATS)


def _learn(
    exchange: Exchange,
    request: dict[str, Any],
    response: dict[str, Any] | None,
    members: Memory[_Key, _Alive],
    key: _Key,
    alive: _Alive | None,
) -> None:
    if exchange.key == OFFSET_COMMIT and alive is not None and not alive.classic:
        return  # taken or refused, it is no sign of life
    end = exchange.answered
    if end is None or response is None or exchange.error not in ("", REBALANCE_IN_PROGRESS):
        # thrown out, or the coordinator is not to be had: what it counts from is not known
        members.pop(key, None)
        return
    if exchange.key == JOIN_GROUP:
        if not exchange.error:
            key = (key[0], response["member_id"])
            timeout = request["session_timeout_ms"]
            members[key] = _Alive(end, timeout, True, exchange.losses, evidence(exchange))
    elif exchange.key in GROUP_TYPES:
        if response["member_epoch"] > 0:
            key = (key[0], response["member_id"] or key[1])
            timeout = response["heartbeat_interval_ms"]
            members[key] = _Alive(end, timeout, False, exchange.losses, evidence(exchange))
        else:
            members.pop(key, None)
    elif alive is not None:
        # who waits for an answer sends no other heartbeat; a commit may go beside them
        heard = exchange.ts if exchange.key == OFFSET_COMMIT else end
        alive.since = max(alive.since, heard)
        alive.losses, alive.evidence = exchange.losses, evidence(exchange)


CHECK: Final = Check(
    "heartbeats", Heartbeats(), _Members, "group members that send no heartbeat for too long",
    "Heartbeat and OffsetCommit v1+ of a member whose JoinGroup was captured (heartbeats come "
    "from a thread of their own since KIP-62, 0.10.1; a member that waits in JoinGroup or "
    "SyncGroup need not send any), which Kafka's documentation of heartbeat.interval.ms asks for at "
    "least three times a session; ConsumerGroupHeartbeat (KIP-848), ShareGroupHeartbeat "
    "(KIP-932), StreamsGroupHeartbeat (KIP-1071), where a commit does not count as a heartbeat", "group",
)  # fmt: skip
