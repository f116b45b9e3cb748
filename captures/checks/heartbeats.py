"""Check `heartbeats`: group members send heartbeats in time.

Classic groups: a client sets a session timeout when it joins, and the coordinator removes members that are
silent for that long; a commit counts as a heartbeat. Kafka's documentation of heartbeat.interval.ms asks for
at most a third of the session timeout. With two heartbeats a session (3 s, the default, in a session of 6 s,
the least that brokers allow by default), a member is removed when one heartbeat is lost: a warning.

Groups of KIP-848, 932 and 1071: the broker sets the interval, and only heartbeats keep a member in the group
(OffsetMetadataManager.validateOffsetCommit starts the timers of classic groups only). The session timeout is
not on the wire: only the broker's response shows that a silence was too long.

Silences in a row are one finding: when a heartbeat is in time again, the member leaves, or the capture ends.
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
    """The thresholds for late heartbeats."""

    share: float = 1 / 3
    """Classic groups: time between two signs of life, as a share of the session timeout."""
    intervals: float = 2.0
    """Other groups: time from a response to the next heartbeat, in the broker's intervals."""
    grace_ms: float = 500.0
    """Tolerance for late timers."""


@dataclass(slots=True)
class _Alive:
    since: int
    """The last sign of life, in ns since the epoch."""
    timeout_ms: int
    """The session timeout, or the broker's interval."""
    classic: bool
    """Whether it is the session timeout; else only heartbeats are signs of life."""
    losses: int
    evidence: Evidence
    counted: bool = False
    """Whether this silence was counted at a commit, before the heartbeat that ends it."""

    def overdue(self, exchange: Exchange, settings: Heartbeats) -> float | None:
        """Return the silence before this exchange in ms; None if it is not too long."""
        gap = (exchange.ts - self.since) / MS
        share = settings.share if self.classic else settings.intervals
        return gap if gap > self.timeout_ms * share + settings.grace_ms else None

    def expired(self, exchange: Exchange, gap: float) -> bool:
        """Return whether a silence (in ms) has cost the member its membership."""
        if self.classic:
            return gap > self.timeout_ms
        return exchange.key in GROUP_TYPES and exchange.error in REMOVED


@dataclass(slots=True)
class _Spell:
    """Consecutive silences of a member that were too long, but had no consequence yet."""

    classic: bool
    count: int = 0
    commits: bool = False
    """Whether the member committed in one of them, where that is no sign of life."""
    longest_ms: float = 0
    timeout_ms: int = 0
    """`_Alive.timeout_ms` of the longest silence."""
    evidence: tuple[Evidence, ...] = ()
    """Evidence of the longest silence."""

    def finding(self, key: _Key) -> Finding:
        """Return the finding about all silences."""
        longest, limit = duration(self.longest_ms * MS), duration(self.timeout_ms * MS)
        rule, advice = f"the broker asked for a heartbeat every {limit}", INTERVAL_ADVICE
        if self.classic:
            rule, advice = f"its session timeout is {limit}", SESSION_ADVICE
        behaviour = f"was silent for {longest}"
        if self.count > 1:
            behaviour = (
                f"was silent for too long {self.count} times in a row, at most for {longest}"
            )
        elif self.commits:
            behaviour = f"commits, but has sent no heartbeat for {longest}"
        if self.commits:
            advice = f"Commits do not keep a member in such a group. {advice}"
        text = f"{_who(key, self.evidence[-1])} {behaviour}; {rule}"
        return Finding("warning", text, advice, self.evidence, group=key[0])


_Key = tuple[str, str]
"""Group and member id."""


class _Members:
    """The members of a capture's groups, and their silences."""

    def __init__(self, settings: Heartbeats) -> None:
        self._settings = settings
        self._alive: Memory[_Key, _Alive] = Memory()
        self._spells: Memory[_Key, _Spell] = Memory()

    def __call__(self, exchange: Exchange, context: Context) -> Iterator[Finding]:
        """Inspect an exchange."""
        fields = GROUP.of(exchange) if exchange.key in _KEYS else None
        if fields is None or not fields.request:
            return
        request = fields.request
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
        _learn(exchange, request, fields.response, self._alive, key, alive)
        if key not in self._alive:
            yield from self._spell_over(key)

    def finish(self) -> Iterator[Finding]:
        """Yield the findings about silences that the end of the capture ends."""
        for key in list(self._spells):
            yield from self._spell_over(key)

    def _spell_over(self, key: _Key) -> Iterator[Finding]:
        spell = self._spells.pop(key, None)
        if spell is not None:
            yield spell.finding(key)

    def _late(self, exchange: Exchange, alive: _Alive, key: _Key, gap: float) -> Iterator[Finding]:
        late_evidence = evidence(exchange)
        both = alive.evidence, late_evidence
        if alive.expired(exchange, gap):
            yield from self._spell_over(key)
            yield _expired(
                exchange,
                alive,
                f"{_who(key, late_evidence)} was silent for {duration(gap * MS)}",
                both,
                key[0],
            )
            return
        spell = self._spells.get(key, _Spell(alive.classic))
        spell.count += not alive.counted
        if not alive.classic and exchange.key == OFFSET_COMMIT:
            alive.counted = spell.commits = True
        if gap > spell.longest_ms:
            spell.longest_ms, spell.timeout_ms, spell.evidence = gap, alive.timeout_ms, both
        self._spells[key] = spell


def _shows(exchange: Exchange, request: dict[str, Any], alive: _Alive) -> bool:
    """Return whether this message shows the length of the member's silence."""
    if exchange.key in GROUP_TYPES:
        return not alive.classic and request["member_epoch"] > 0
    if exchange.key == OFFSET_COMMIT:
        # responses are in request order: no heartbeat is in flight on this connection
        return exchange.connection == alive.evidence.connection
    return alive.classic and exchange.key == HEARTBEAT


def _expired(
    exchange: Exchange, alive: _Alive, silent: str, both: tuple[Evidence, ...], group: str
) -> Finding:
    limit = duration(alive.timeout_ms * MS)
    if alive.classic:
        text = f"{silent}; its session timeout is {limit}"
        return Finding("error", text, REMOVED_ADVICE, both, group=group)
    text = f"{silent}; the broker asked for a heartbeat every {limit} and now answers "
    return Finding("error", f"{text}{exchange.error}", INTERVAL_ADVICE, both, group=group)


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
        return  # accepted or rejected, it is no sign of life
    end = exchange.answered
    if end is None or response is None or exchange.error not in ("", REBALANCE_IN_PROGRESS):
        # removed, or the coordinator is unavailable: the start of its timer is unknown
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
        # a member has one heartbeat in flight at a time; a commit may overlap with it
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
