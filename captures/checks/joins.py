"""`joins`: a rebalance that takes long, and because of which member.

The coordinator of a classic group answers no JoinGroup before every member that it knows has sent one,
or the rebalance timeout is over. A consumer joins when it polls: one that is busy with its records
keeps all others waiting. It can't come before it has heard of the rebalance, with its next heartbeat.
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
    """How long a join may take."""

    longest_ms: float = 5000.0
    """From the first JoinGroup of a generation to its answer."""


def joins(settings: Joins) -> See:
    """Generations that were long in coming, each with the member that came last, or never."""
    generations = Generations()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        for found in generations.learn(exchange):
            if not isinstance(found, Generation) or found.over:
                continue
            if found.took > settings.longest_ms * MS:
                yield _long(found)

    return see


def _long(now: Generation) -> Finding:
    text = f"group {now.group}: the rebalance to generation {now.number} took {duration(now.took)}"
    waited, seen = now.waited, [now.first.evidence]
    if now.awaited:
        said = f"no JoinGroup of {listed(now.awaited.values(), 'member')} was captured"
        advice = HANGS
    elif waited is None:
        said = "all captured members had joined long before"
        advice = (
            "The coordinator waited for members that the capture does not show, or for new "
            "members (group.initial.rebalance.delay.ms)."
        )
    elif waited.join is None:
        said = f"it waited for {listed(waited.members, 'member')}, which did not rejoin"
        advice = HANGS
    else:
        join = waited.join
        who = f"member {join.member} ({join.client})"
        seen.append(join.evidence)
        if waited.kind == "untold":
            why = "; ".join(cause.in_full for cause in now.causes) or "a member joined"
            said = (
                f"it began because {why}; {who} learned of it {duration(waited.ns)} later, with "
                "its heartbeat"
            )
            advice = (
                "Look for what triggers the rebalance: members learn of it only with their next "
                "heartbeat (heartbeat.interval.ms)."
            )
        else:
            since = "the first JoinGroup" if join.told is None else "it was told to rejoin"
            said = f"{who} joined last, {duration(waited.ns)} after {since}"
            advice = (
                "A consumer rejoins when it polls: let it poll more often (lower "
                "max.poll.records), or process records in another thread."
            )
    return Finding("warning", f"{text}; {said}", advice, tuple(seen))


CHECK: Final = Check(
    "joins", Joins(), joins, "rebalances that take long, and which member delays them",
    "JoinGroup v0+ of classic groups (members have the rebalance timeout since v1, KIP-62, before it "
    "the session timeout); the first generation waits group.initial.rebalance.delay.ms (KIP-134); "
    "groups of KIP-848 have no such wait", "group",
)  # fmt: skip
