"""Changes responses as rules decided when their requests arrived."""

from __future__ import annotations

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.state import State
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.rules.rule import MAX_REPORTS, count_reason
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.keys import SHARE_FETCH


def amend(
    state: State, actions: ActionBuffer, pending: Pending, body: bytes
) -> tuple[bytes, tuple[str, ...], list[Decision]]:
    """Return a response's body, descriptions of its changes, and decisions that could not be carried out.

    The latest rule's change comes first, because that rule has seen the request as earlier rules have changed
    it. The first failures of a rule are reported.

    Args:
        state: The connection.
        actions: Takes the reports.
        pending: The request.
        body: The body of the response, as it came from the broker or the proxy.
    """
    changed, failed = body, list[Decision]()
    changes: tuple[str, ...] = ()
    reply = state.replies.get(pending)
    for name, effect in reversed(() if reply is None else reply.amends):
        try:
            changed = effect.change(changed)
        except Unable as problem:
            reason = str(problem) if state.plan.quotes else problem.place
            trouble = f"{effect.description} could not be done: {reason}"
            failed.append(Decision(name, (), (trouble,), trouble=(trouble,)))
            if _count(state, name, reason) <= MAX_REPORTS:
                actions.say(f"rule {name!r}: {trouble}; the response passes without it")
            continue
        changes += (effect.description,)
    if pending.key == SHARE_FETCH and changes:
        releases = state.shared.releases
        releases.note(state.broker, pending.version, pending.body, body, changed)
    return changed, changes, failed


def _count(state: State, name: str, reason: str) -> int:
    """Count a failure of a rule, and return how many it has; 0 if the rule has been removed."""
    for rule in state.plan.rules.rules:
        if rule.name == name:
            rule.unable += 1
            count_reason(rule.troubles, f"respond: {reason}")
            return rule.unable
    return 0
