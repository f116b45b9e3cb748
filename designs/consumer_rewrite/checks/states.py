"""`rewrite_states`: consumers of the rewrite take only the steps of `states.py`.

A capture does not show everything that changes a consumer's state: invisible steps may have happened. So a
consumer is in any of several states, and violates the table when none of them remains.
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
"""Steps of a consumer that a capture does not show: discovery names a group and no consumer."""


@dataclass(slots=True)
class _Consumer:
    states: frozenset[str]
    since: int
    """The time from which the consumer knew, in ns since the epoch."""
    losses: int
    evidence: Evidence


def reachable(states: frozenset[str]) -> frozenset[str]:
    """Return these states, and those that a consumer may have reached by invisible steps."""
    reached, new = states, states
    while new:
        steps = {REWRITE_CONSUMER.step(state, event, NONE) for state in new for event in UNSEEN}
        new = frozenset(next_state for next_state in steps if next_state is not None) - reached
        reached |= new
    return reached


def rewrite_states(_: NoSettings) -> See:
    """Find requests that are not allowed in any state that a consumer may be in."""
    consumers: Memory[tuple[str, str], _Consumer] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = step(exchange)
        if message is None:
            return
        group, name = message.request["group_id"], message.request["consumer_id"]
        assigned_id = message.response.get("consumer_id", "")
        key = (group, name or assigned_id)
        known = consumers.get(key)
        if known is None or known.losses != exchange.losses:
            consumers.pop(key, None)
            if message.api == "JoinGroup" and message.answer == NONE:
                consumers[key] = _Consumer(
                    frozenset({PART_OF_GROUP}), message.end, exchange.losses, evidence(exchange)
                )
            return
        if message.api == "LeaveGroup":
            if message.answer == NONE:
                consumers.pop(key, None)
            return
        before = reachable(known.states)
        steps = {REWRITE_CONSUMER.step(state, message.api, message.answer) for state in before}
        after = frozenset(next_state for next_state in steps if next_state is not None)
        if not after:
            if exchange.ts > known.since:
                yield Finding(
                    "error" if message.answer == NONE else "warning",
                    f"group {group}: {message.api} of consumer {key[1]} ({message.answer}) is not "
                    f"allowed in state {' or '.join(sorted(known.states))}",
                    "After IllegalGeneration a consumer must stop, commit and rejoin before "
                    "anything else.",
                    (known.evidence, evidence(exchange)),
                )
            return
        if after != known.states:
            known.since, known.evidence = message.end, evidence(exchange)
        known.states = after

    return see


CHECK: Final = Check(
    "rewrite_states", NoSettings(), rewrite_states, "steps that the consumer rewrite does not allow",
    "the dialect rewrite-0.8.2; consumers whose JoinGroup was captured",
)  # fmt: skip
