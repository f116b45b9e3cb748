"""Passes a message to the rules that may match it."""

from __future__ import annotations

from barnabas.captures.kafka.context.sessions import INCREMENTAL
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.state import State
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rule import MAX_REPORTS
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction


def message_of(
    state: State,
    direction: Direction,
    pending: Pending,
    frame: OutgoingFrame,
    body: bytes,
    acks: int | None = None,
) -> Message:
    """Return the frame's message as rules see it; its body is the end of the frame."""
    start = len(frame.data) - len(body)
    frame.message = Message(
        direction=direction,
        key=pending.key,
        version=pending.version,
        client_id=pending.client_id,
        broker=state.broker,
        connection=state.number,
        ordinal=state.ordinal,
        group=pending.group,
        size=len(frame.data) - 4,
        body=body,
        request=pending.body if direction == "response" else None,
        head=frame.data[4:start],
        correlation_id=pending.correlation_id,
        acks=acks,
        arrived=frame.arrived,
        listener=state.find,
        topics=state.shared.topics,
        sessions=state.shared.sessions if pending.key in INCREMENTAL else None,
        reading=state.shared.reading,
        quotes=state.plan.quotes,
    )
    return frame.message


def decide(
    state: State, actions: ActionBuffer, frame: OutgoingFrame, message: Message
) -> list[Decision]:
    """Ask the rules about a message and apply their changes to the frame.

    The first failures of a rule are reported.
    """
    message_type = message.direction, message.key, message.version
    candidates = state.candidates.of(*message_type, message.client_id)
    if not candidates:
        return []
    rules = state.plan.rules
    decisions = rules.decide(candidates, message, state.counts)
    if message.missing_names:
        state.shared.unresolved.want(message.missing_names, message.arrived)
    for rule in candidates:
        if reason := rule.news():
            actions.say(f"rule {rule.name!r} undecided: {reason}; treated as no match, and counted")
    for decision in decisions:
        if decision.trouble and rules.rule(decision.rule).unable <= MAX_REPORTS:
            text = "; ".join(decision.trouble)
            actions.say(f"rule {decision.rule!r}: {text}; the message passes without it")
    message.forget()
    if message.changed:
        frame.data, frame.changed = message.frame, (*frame.changed, *message.changed)
    return decisions
