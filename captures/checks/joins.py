"""`joins`: a rebalance that takes long, and because of which member.

The coordinator of a classic group answers no JoinGroup before every member that it knows has sent one,
or the rebalance timeout is over. A consumer joins when it polls: one that is busy with its records
keeps all others waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from captures.checks.finding import MS, Evidence, Finding, See, answered, duration, evidence
from captures.context import Context
from captures.context.memory import Memory
from captures.exchange import Exchange
from captures.wording import listed
from specs.keys import JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP

HOLDS = (
    "JoinGroup v0+ of classic groups (members have the rebalance timeout since v1, KIP-62, before it "
    "the session timeout); the first generation waits group.initial.rebalance.delay.ms (KIP-134); "
    "groups of KIP-848 have no such wait"
)


@dataclass(frozen=True, slots=True)
class Joins:
    """How long a join may take."""

    longest_ms: float = 5000.0
    """From the first JoinGroup of a generation to its answer."""


@dataclass(slots=True)
class _Came:
    ts: int
    end: int
    member: str
    evidence: Evidence


@dataclass(slots=True)
class _Rebalance:
    generation: int
    losses: int
    came: list[_Came] = field(default_factory=list)
    members: frozenset[str] = frozenset()
    """As the leader was told."""
    before: frozenset[str] = frozenset()
    """Members of the generation before."""


def joins(settings: Joins) -> See:
    """Generations that were long in coming, each with the member that came last, or never."""
    groups: Memory[str, _Rebalance] = Memory()
    left: Memory[tuple[str, str], bool] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        request, response = exchange.request if exchange.key in _KEYS else None, exchange.response
        if not request or not response:
            return
        group, now = request["group_id"], groups.get(request["group_id"])
        if exchange.key == LEAVE_GROUP:
            for member in request.get("members", [request]):
                left[group, member["member_id"]] = True
        elif exchange.key == SYNC_GROUP:
            # all members of the generation have their answer when the first one goes on
            if now is not None and now.generation == request["generation_id"] and now.came:
                yield from _judged(group, now, left, settings)
                now.came.clear()
        elif not response["error_code"]:
            _learn(exchange, response, groups, group, now)

    return see


_KEYS: Final = (JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP)


def _learn(
    exchange: Exchange,
    response: dict[str, Any],
    groups: Memory[str, _Rebalance],
    group: str,
    now: _Rebalance | None,
) -> None:
    end = answered(exchange)
    if end is None:
        return
    if now is None or now.generation != response["generation_id"] or now.losses != exchange.losses:
        known = now is not None and now.losses == exchange.losses
        before = now.members if now is not None and known else frozenset()
        now = _Rebalance(response["generation_id"], exchange.losses, before=before)
        groups[group] = now
    now.came.append(_Came(exchange.ts, end, response["member_id"], evidence(exchange)))
    if response["members"]:
        now.members = frozenset(member["member_id"] for member in response["members"])


def _judged(
    group: str, now: _Rebalance, left: Memory[tuple[str, str], bool], settings: Joins
) -> Iterator[Finding]:
    first = min(now.came, key=lambda came: came.ts)
    last = max(now.came, key=lambda came: came.ts)
    took = max(came.end for came in now.came) - first.ts
    if took <= settings.longest_ms * MS:
        return
    text = f"group {group}: generation {now.generation} took {duration(took)} to come together"
    gone = sorted(
        member for member in now.before - now.members if now.members and (group, member) not in left
    )
    if last.ts - first.ts > took / 2:
        late = duration(last.ts - first.ts)
        text += (
            f"; member {last.member} ({last.evidence.client}) joined last, {late} after the first"
        )
        advice = (
            "A consumer joins when it polls: let it poll more often (max.poll.records), or do its "
            "work elsewhere."
        )
    elif gone:
        text += f"; it waited for {listed(gone, 'member')}, who did not come"
        advice = (
            "A member that ends should leave (close()); one that hangs is waited for as long as its "
            "max.poll.interval.ms."
        )
    else:
        text += "; all members that were seen had come long before"
        advice = (
            "The coordinator waited for members that the capture does not show, or for newcomers "
            "(group.initial.rebalance.delay.ms)."
        )
    seen = (first.evidence,) if first is last else (first.evidence, last.evidence)
    yield Finding("warning", text, advice, seen)
