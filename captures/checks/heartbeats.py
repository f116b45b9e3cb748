"""`heartbeats`: members of a group show that they live in good time.

Classic groups: the client names a session timeout when it joins, and the coordinator throws out whom
it has not heard for so long; a commit counts as being heard. A client should beat at least three times
in it, so that one loss does not matter (heartbeat.interval.ms). Members of the groups of KIP-848, 932
and 1071 are told an interval by the broker, and nothing but their heartbeats keeps them in the group
(OffsetMetadataManager.validateOffsetCommit starts the timers of classic groups only). Their session is
the broker's own affair, not on the wire: how long a silence may be, only its answer says.
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
    See,
    answered,
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
    told: bool = False
    """That this silence is too long: at a commit, before the heartbeat that ends it."""

    def overdue(self, exchange: Exchange, settings: Heartbeats) -> float | None:
        """How long it has been silent before this, in ms; None if that is not too long."""
        gap = (exchange.ts - self.since) / MS
        share = settings.share if self.classic else settings.intervals
        return gap if gap > self.timeout_ms * share + settings.grace_ms else None


def heartbeats(settings: Heartbeats) -> See:
    """Heartbeats later than a share of the session, or than the interval that the broker gave."""
    members: Memory[tuple[str, str], _Alive] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        said = GROUP.of(exchange) if exchange.key in _KEYS else None
        if said is None or not said.request:
            return
        request = said.request
        if exchange.key == LEAVE_GROUP:
            for member in request.get("members", [request]):
                members.pop((request["group_id"], member["member_id"]), None)
            return
        key = (request["group_id"], request.get("member_id", ""))
        alive = members.get(key)
        if alive is not None and alive.losses == exchange.losses:
            gap = alive.overdue(exchange, settings)
            if gap is not None:
                yield from _late(exchange, request, alive, key, gap)
        _learn(exchange, request, said.response, members, key, alive)

    return see


_KEYS: Final = (JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, HEARTBEAT, OFFSET_COMMIT, *GROUP_TYPES)


def _late(
    exchange: Exchange, request: dict[str, Any], alive: _Alive, key: tuple[str, str], gap: float
) -> Iterator[Finding]:
    seen = (alive.evidence, evidence(exchange))
    who = f"group {key[0]}: member {key[1]} ({exchange.client})"
    limit = duration(alive.timeout_ms * MS)
    silent = f"{who} was silent for {duration(gap * MS)}"
    # responses of a connection come in the order of requests: no heartbeat is under way there
    same = exchange.connection == alive.evidence.connection
    if alive.classic:
        if exchange.key != HEARTBEAT and not (exchange.key == OFFSET_COMMIT and same):
            return
        over = gap > alive.timeout_ms
        yield Finding(
            "error" if over else "warning",
            f"{silent}; its session timeout is {limit}",
            REMOVED_ADVICE if over else SESSION_ADVICE,
            seen,
        )
    elif exchange.key in GROUP_TYPES:
        removed = exchange.error in REMOVED
        # what was told at a commit is news again only if it had a consequence
        if request["member_epoch"] > 0 and (not alive.told or removed):
            what = f"{silent}; the broker asked for a heartbeat every {limit}"
            what += f" and now answers {exchange.error}" if removed else ""
            yield Finding("error" if removed else "warning", what, INTERVAL_ADVICE, seen)
    elif exchange.key == OFFSET_COMMIT and same and not alive.told:
        alive.told = True
        yield Finding(
            "warning",
            f"{who} commits, but has sent no heartbeat for {duration(gap * MS)}; the broker asked "
            f"for one every {limit}",
            f"Commits do not keep a member in such a group. {INTERVAL_ADVICE}",
            seen,
        )


def _learn(
    exchange: Exchange,
    request: dict[str, Any],
    response: dict[str, Any] | None,
    members: Memory[tuple[str, str], _Alive],
    key: tuple[str, str],
    alive: _Alive | None,
) -> None:
    if exchange.key == OFFSET_COMMIT and alive is not None and not alive.classic:
        return  # taken or refused, it is no sign of life
    end = answered(exchange)
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
    "heartbeats", Heartbeats(), heartbeats, "group members that send no heartbeat for too long",
    "Heartbeat and OffsetCommit v1+ of a member whose JoinGroup was captured (heartbeats come "
    "from a thread of their own since KIP-62, 0.10.1; a member that waits in JoinGroup or "
    "SyncGroup need not send any); ConsumerGroupHeartbeat (KIP-848), ShareGroupHeartbeat "
    "(KIP-932), StreamsGroupHeartbeat (KIP-1071), where a commit does not count as a heartbeat", "group",
)  # fmt: skip
