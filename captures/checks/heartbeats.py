"""`heartbeats`: members of a group show that they live in good time.

Classic groups: the client names a session timeout when it joins, and the coordinator throws out whom
it has not heard for so long. A client should beat at least three times in it, so that one loss does
not matter (heartbeat.interval.ms). Members of the groups of KIP-848, 932 and 1071 are told an interval
by the broker; the session is the broker's own affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from captures.checks.finding import MS, Evidence, Finding, See, answered, duration, evidence
from captures.context import Context
from captures.context.memory import Memory
from captures.exchange import Exchange
from specs.keys import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, OFFSET_COMMIT, SYNC_GROUP

NEW_HEARTBEATS: Final = (68, 76, 88)
"""ConsumerGroupHeartbeat, ShareGroupHeartbeat, StreamsGroupHeartbeat."""

REBALANCE_IN_PROGRESS: Final = "REBALANCE_IN_PROGRESS"

HOLDS = (
    "Heartbeat and OffsetCommit v1+ of a member whose JoinGroup was seen (from a thread of their own "
    "since KIP-62, 0.10.1; while it waits in JoinGroup or SyncGroup a member need not beat); "
    "ConsumerGroupHeartbeat (KIP-848), ShareGroupHeartbeat (KIP-932), StreamsGroupHeartbeat (KIP-1071)"
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
    losses: int
    evidence: Evidence


def heartbeats(settings: Heartbeats) -> See:
    """Heartbeats later than a share of the session, or than the interval that the broker gave."""
    members: Memory[tuple[str, str], _Alive] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        request = exchange.request if exchange.key in _KEYS else None
        if not request:
            return
        if exchange.key == LEAVE_GROUP:
            for member in request.get("members", [request]):
                members.pop((request["group_id"], member["member_id"]), None)
            return
        key = (request["group_id"], request.get("member_id", ""))
        alive = members.get(key)
        if alive is not None and alive.losses == exchange.losses:
            if exchange.key in NEW_HEARTBEATS:
                if request["member_epoch"] > 0:
                    yield from _late_interval(exchange, alive, key, settings)
            elif exchange.key in (HEARTBEAT, OFFSET_COMMIT):
                yield from _late_session(exchange, alive, key, settings)
        _learn(exchange, request, members, key, alive)

    return see


_KEYS: Final = (
    *(JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, HEARTBEAT, OFFSET_COMMIT),
    *NEW_HEARTBEATS,
)


def _late_session(
    exchange: Exchange, alive: _Alive, key: tuple[str, str], settings: Heartbeats
) -> Iterator[Finding]:
    gap = (exchange.ts - alive.since) / MS
    if gap <= alive.timeout_ms * settings.share + settings.grace_ms:
        return
    over = gap > alive.timeout_ms
    yield Finding(
        "error" if over else "warning",
        f"group {key[0]}: member {key[1]} was silent for {duration(gap * MS)}, "
        f"its session is {duration(alive.timeout_ms * MS)}",
        "The coordinator throws such a member out and the group rebalances: look for long pauses of "
        "the process, or raise session.timeout.ms."
        if over
        else "Set heartbeat.interval.ms to at most a third of session.timeout.ms, and look for "
        "pauses of the process.",
        (alive.evidence, evidence(exchange)),
    )


def _late_interval(
    exchange: Exchange, alive: _Alive, key: tuple[str, str], settings: Heartbeats
) -> Iterator[Finding]:
    gap = (exchange.ts - alive.since) / MS
    if gap <= alive.timeout_ms * settings.intervals + settings.grace_ms:
        return
    yield Finding(
        "warning",
        f"group {key[0]}: member {key[1]} was silent for {duration(gap * MS)}, "
        f"the broker asked for a heartbeat every {duration(alive.timeout_ms * MS)}",
        "Look for pauses of the process; after group.consumer.session.timeout.ms (45 s by default) "
        "the broker fences the member.",
        (alive.evidence, evidence(exchange)),
    )


def _learn(
    exchange: Exchange,
    request: dict[str, Any],
    members: Memory[tuple[str, str], _Alive],
    key: tuple[str, str],
    alive: _Alive | None,
) -> None:
    end, response = answered(exchange), exchange.response
    if end is None or response is None or exchange.error not in ("", REBALANCE_IN_PROGRESS):
        # thrown out, or the coordinator is not to be had: what it counts from is not known
        members.pop(key, None)
        return
    if exchange.key == JOIN_GROUP:
        if not exchange.error:
            key = (key[0], response["member_id"])
            timeout = request["session_timeout_ms"]
            members[key] = _Alive(end, timeout, exchange.losses, evidence(exchange))
    elif exchange.key in NEW_HEARTBEATS:
        if response["member_epoch"] > 0:
            key = (key[0], response["member_id"] or key[1])
            timeout = response["heartbeat_interval_ms"]
            members[key] = _Alive(end, timeout, exchange.losses, evidence(exchange))
        else:
            members.pop(key, None)
    elif alive is not None:
        heard = end if exchange.key == SYNC_GROUP else exchange.ts
        alive.since = max(alive.since, heard)
        alive.losses, alive.evidence = exchange.losses, evidence(exchange)
