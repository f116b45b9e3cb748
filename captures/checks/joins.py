"""Check `joins`: rebalances that take long, and the member that delays them.

The coordinator of a classic group answers no JoinGroup before every known member has sent one, or the
rebalance timeout is over. A consumer joins when it polls: a consumer that is busy with its records keeps all
others waiting. It can't join before it learns of the rebalance with its next heartbeat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import MS, Check, Finding, See, duration
from barnabas.captures.checks.generations import Generations
from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import listed

HANGS: Final = (
    "A consumer that ends should leave the group (close()); the group waits for one that hangs as "
    "long as its max.poll.interval.ms."
)


@dataclass(frozen=True, slots=True)
class Joins:
    """The thresholds for long joins."""

    longest_ms: float = 5000.0
    """From the first JoinGroup of a generation to its last response."""


def joins(settings: Joins) -> See:
    """Find generations that took long to form, each with the member that joined last, or never."""
    generations = Generations()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        for event in generations.learn(exchange):
            if not isinstance(event, Generation) or event.over:
                continue
            if event.took > settings.longest_ms * MS:
                yield _long(event)

    return see


def _long(now: Generation) -> Finding:
    text = f"group {now.group}: the rebalance to generation {now.number} took {duration(now.took)}"
    delay, exchanges = now.delay, [now.first.evidence]
    if now.awaited:
        explanation = f"no JoinGroup of {listed(now.awaited.values(), 'member')} was captured"
        advice = HANGS
    elif delay is None:
        explanation = "all captured members had joined long before"
        advice = (
            "The coordinator waited for members that the capture does not show, or for new "
            "members (group.initial.rebalance.delay.ms)."
        )
    elif delay.join is None:
        explanation = f"it waited for {listed(delay.members, 'member')}, which did not rejoin"
        advice = HANGS
    else:
        join = delay.join
        member = f"member {join.member} ({join.client})"
        exchanges.append(join.evidence)
        if delay.kind == "untold":
            causes = "; ".join(cause.in_full for cause in now.causes) or "a member joined"
            explanation = (
                f"it began because {causes}; {member} learned of it {duration(delay.ns)} later, with "
                "its heartbeat"
            )
            advice = (
                "Look for what triggers the rebalance: members learn of it only with their next "
                "heartbeat (heartbeat.interval.ms)."
            )
        else:
            since = "the first JoinGroup" if join.notified_at is None else "it was told to rejoin"
            explanation = f"{member} joined last, {duration(delay.ns)} after {since}"
            advice = (
                "A consumer rejoins when it polls: let it poll more often (lower "
                "max.poll.records), or process records in another thread."
            )
    return Finding("warning", f"{text}; {explanation}", advice, tuple(exchanges), group=now.group)


CHECK: Final = Check(
    "joins", Joins(), joins, "rebalances that take long, and which member delays them",
    "JoinGroup v0+ of classic groups (members have the rebalance timeout since v1, KIP-62, before it "
    "the session timeout); the first generation waits group.initial.rebalance.delay.ms (KIP-134); "
    "groups of KIP-848 do not wait", "group",
)  # fmt: skip
