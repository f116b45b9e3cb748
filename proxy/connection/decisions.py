"""Puts a message to the rules that may be about it."""

from __future__ import annotations

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.state import State
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rule import SAID
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction


def message_of(
    state: State,
    direction: Direction,
    pending: Pending,
    size: int,
    body: bytes | None,
    *,
    head: bytes,
    arrived: int,
    acks: int | None = None,
) -> Message:
    """A request, or the response to it, as rules see it."""
    return Message(
        direction=direction,
        key=pending.key,
        version=pending.version,
        client_id=pending.client_id,
        broker=state.broker,
        connection=state.number,
        ordinal=state.ordinal,
        group=pending.group,
        size=size,
        body=body,
        request=pending.body if direction == "response" else None,
        head=head,
        correlation_id=pending.correlation_id,
        acks=acks,
        arrived=arrived,
        listener=state.find,
        topics=state.shared.topics,
        reading=state.shared.reading,
        quotes=state.plan.quotes,
    )


def decide(state: State, actions: ActionBuffer, message: Message) -> list[Decision]:
    """What the rules want done; what could not be done is said, the first times."""
    kind = message.direction, message.key, message.version
    candidates = state.candidates.of(*kind, message.client_id)
    if not candidates:
        return []
    rules = state.plan.rules
    decisions = rules.decide(candidates, message, state.counts)
    if message.wanted:
        state.shared.questions.want(message.wanted, message.arrived)
    for rule in candidates:
        if why := rule.news():
            actions.say(f"rule {rule.name!r} undecided: {why}; treated as no match, and counted")
    for decision in decisions:
        if decision.trouble and rules.rule(decision.rule).unable <= SAID:
            what = "; ".join(decision.trouble)
            actions.say(f"rule {decision.rule!r}: {what}; the message passes without it")
    message.forget()
    return decisions
