"""`rewrite_states`: consumers of the rewrite take only the steps of `states.py`.

A capture does not show everything that moves a consumer: what it can't show may have happened. So a
consumer is in any of several states, and has broken the table when none of them remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.consumer_rewrite.captured_steps import step
from barnabas.designs.consumer_rewrite.states import (
    CONSUMER_EVENTS,
    PART_OF_GROUP,
    REWRITE_CONSUMER,
)
from barnabas.specs.groups.table import NONE

UNSEEN: Final = (*CONSUMER_EVENTS, "ConsumerMetadata")
"""What moves a consumer and can't be told to be its own: discovery names a group and no consumer."""


@dataclass(slots=True)
class _Consumer:
    states: frozenset[str]
    since: int
    """When the consumer knew, in ns since the epoch."""
    losses: int
    evidence: Evidence


def reachable(states: frozenset[str]) -> frozenset[str]:
    """These states, and those that a consumer may have got to unseen."""
    found, new = states, states
    while new:
        steps = {REWRITE_CONSUMER.step(state, event, NONE) for state in new for event in UNSEEN}
        new = frozenset(one for one in steps if one is not None) - found
        found |= new
    return found


def rewrite_states(_: NoSettings) -> See:
    """Requests that a consumer must not send in any state that it may be in."""
    consumers: Memory[tuple[str, str], _Consumer] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = step(exchange)
        if seen is None:
            return
        group, name = seen.request["group_id"], seen.request["consumer_id"]
        given = seen.response.get("consumer_id", "")
        key = (group, name or given)
        known = consumers.get(key)
        if known is None or known.losses != exchange.losses:
            consumers.pop(key, None)
            if seen.api == "JoinGroup" and seen.answer == NONE:
                consumers[key] = _Consumer(
                    frozenset({PART_OF_GROUP}), seen.end, exchange.losses, evidence(exchange)
                )
            return
        if seen.api == "LeaveGroup":
            if seen.answer == NONE:
                consumers.pop(key, None)
            return
        before = reachable(known.states)
        steps = {REWRITE_CONSUMER.step(state, seen.api, seen.answer) for state in before}
        after = frozenset(one for one in steps if one is not None)
        if not after:
            if exchange.ts > known.since:
                yield Finding(
                    "error" if seen.answer == NONE else "warning",
                    f"group {group}: {seen.api} of consumer {key[1]} ({seen.answer}) is not "
                    f"allowed in state {' or '.join(sorted(known.states))}",
                    "After IllegalGeneration a consumer must stop, commit and rejoin before "
                    "anything else.",
                    (known.evidence, evidence(exchange)),
                )
            return
        if after != known.states:
            known.since, known.evidence = seen.end, evidence(exchange)
        known.states = after

    return see


CHECK: Final = Check(
    "rewrite_states", NoSettings(), rewrite_states, "steps that the consumer rewrite does not allow",
    "the dialect rewrite-0.8.2; consumers whose JoinGroup was captured",
)  # fmt: skip
