"""The messages of one connection that wait at breakpoints, and the decisions about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from typing import Final

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Departure
from barnabas.proxy.connection.dispatch import ANSWERED, Dispatch, refused
from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame, comment_on
from barnabas.proxy.connection.state import State
from barnabas.proxy.effects import Answer, Become, Lose
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.manual_decision import manual_decision
from barnabas.proxy.rules.merged_effects import MergedEffects, merge
from barnabas.proxy.rules.rules import Decision
from barnabas.proxy.scenario.model import RuleConfig
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed

TIMEOUTS: Final = ("timeout_ms", "rebalance_timeout_ms", "max_wait_ms")
"""Request fields by which the client limits the time until the response."""


@dataclass(frozen=True, slots=True)
class HaltedMessage:
    """A message that waits at a breakpoint. Times are in ns since the epoch."""

    id: str
    """A unique id, never used again."""
    rule: str
    connection: int
    client: str
    client_id: str | None
    broker: int | None
    direction: Direction
    key: int
    version: int
    correlation_id: int
    size: int
    since: int
    until: int
    """The time at which it leaves unchanged."""
    request_arrived: int
    """The arrival of its request."""
    timeout: tuple[str, int] | None
    """The request field that limits the response time, and its value in ms; None if there is none."""
    body: bytes = field(default=b"", repr=False)
    """The body without its header; only where it was requested."""


class Breakpoints:
    """The breakpoints of one connection."""

    def __init__(self, state: State, actions: ActionBuffer, dispatch: Dispatch) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch

    def waiting(self, most: int) -> Iterator[tuple[int, Callable[[], HaltedMessage]]]:
        """Yield the time since which each message waits and a function that describes it.

        Args:
            most: The number of messages of each direction to yield at most.
        """
        for direction in self.state.queues:
            for _, frame, halted, message in islice(self._halted(direction), most):
                yield halted.since, partial(self._describe, frame, halted, message)

    def message(self, id: str) -> HaltedMessage:
        """Return a waiting message with its body.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        _, frame, halted, message = self._find(id)
        return self._describe(frame, halted, message, message.body or b"")

    def decision_by(self, id: str, rule: RuleConfig | None) -> Decision:
        """Return the decision that a rule would make about a waiting message.

        None for the rule lets the message leave unchanged.

        Raises:
            LookupError: No message with this id waits (any longer).
            Unable: A fault of the rule cannot be applied to the message.
        """
        _, _, halted, message = self._find(id)
        return manual_decision(rule, halted.rule, message)

    def decide(self, id: str, decision: Decision, now: int) -> None:
        """Apply a decision to a waiting message.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        direction, frame, halted, message = self._find(id)
        self._change(direction, frame, message, decision)
        merged = merge([decision])
        if note := refused(direction, merged):
            frame.delivery.halted = None
            self.state.plan.rules.rule(halted.rule).released += 1
            self._take_out(direction, frame, merged, decision, note, now)
        else:  # it leaves when it is its turn
            halted.until, halted.decided = now, True

    def _change(
        self, direction: Direction, frame: OutgoingFrame, message: Message, decision: Decision
    ) -> None:
        """Replace the frame's bytes, or remove them if the proxy answers the request itself."""
        for effect in decision.effects:
            if isinstance(effect, Become):
                message.become(effect.body, effect.head, effect.what)
                frame.changed = (*frame.changed, effect.what)
                self._set_bytes(direction, frame, message.frame)
            elif isinstance(effect, Answer):
                self._note_removal(direction, frame, ANSWERED, decision)
                self.dispatch.own_reply(frame, effect.body)
                self._set_bytes(direction, frame, b"")
        self.dispatch.amend_reply(frame, [decision])
        if direction == "response":
            frame.response_body = message.body
        elif frame.data:
            frame.answered = message.acks != 0

    def _set_bytes(self, direction: Direction, frame: OutgoingFrame, data: bytes) -> None:
        self.state.queues[direction].bytes += len(data) - len(frame.data)
        frame.data = data

    def _take_out(
        self,
        direction: Direction,
        frame: OutgoingFrame,
        merged: MergedEffects,
        decision: Decision,
        note: str,
        now: int,
    ) -> None:
        """Remove a frame that never leaves; lose the frames after it or close the connection."""
        queue = self.state.queues[direction]
        following = queue.remove(frame)
        self._note_removal(direction, frame, note, decision)
        self.actions.lost(direction, frame, note)
        if merged.hang_up is not None:
            self.actions.abort(CUT_OFF, reset=merged.hang_up.reset)
        elif isinstance(merged.chosen, Lose) and not merged.chosen.selective:
            for other in following:
                queue.remove(other)
            for other in (*following, *queue.lose()):
                reason = f"{direction} lost after a dropped one"
                self._note_removal(direction, other, reason)
                self.actions.lost(direction, other, reason)
        elif frame.pending is not None:
            self.dispatch.turn(frame.pending, now)

    def _note_removal(
        self, direction: Direction, frame: OutgoingFrame, note: str, *decisions: Decision
    ) -> None:
        """Correct the capture, which has noted that the frame would leave later."""
        comment = {"frame": frame.ordinal, **comment_on(decisions), "left": "never", "note": note}
        self.actions.append(Departure(direction, b"", comment, *frame.kind))

    def _find(self, id: str) -> tuple[Direction, OutgoingFrame, Halted, Message]:
        for direction in self.state.queues:
            for entry in self._halted(direction):
                if entry[2].id == id:
                    return entry
        raise LookupError(id)

    def _halted(
        self, direction: Direction
    ) -> Iterator[tuple[Direction, OutgoingFrame, Halted, Message]]:
        for frame, halted in () if self.state.over else self.state.queues[direction].halted():
            assert frame.message is not None  # noqa: S101 - rules fired on it
            yield direction, frame, halted, frame.message

    def _describe(
        self, frame: OutgoingFrame, halted: Halted, message: Message, body: bytes = b""
    ) -> HaltedMessage:
        arrived, request = frame.arrived, message.body
        if message.direction == "response" and frame.pending is not None:
            arrived, request = frame.pending.arrived, frame.pending.body
        return HaltedMessage(
            id=halted.id,
            rule=halted.rule,
            connection=message.connection,
            client=self.state.client,
            client_id=message.client_id,
            broker=message.broker,
            direction=message.direction,
            key=message.key,
            version=message.version,
            correlation_id=message.correlation_id,
            size=message.size + 4,
            since=halted.since,
            until=halted.until,
            request_arrived=arrived,
            timeout=_timeout(message.key, message.version, request),
            body=body,
        )


def oldest(connections: Iterable[Breakpoints], most: int) -> list[HaltedMessage]:
    """Return the messages that wait longest on these connections, without their bodies.

    Args:
        connections: The breakpoints of each connection.
        most: The number of messages to return at most.
    """
    entries = (entry for breakpoints in connections for entry in breakpoints.waiting(most))
    return [show() for _, show in nsmallest(most, entries, key=itemgetter(0))]


def _timeout(key: int, version: int, request: bytes | None) -> tuple[str, int] | None:
    """Return the field by which a request limits its response time, and the value in ms."""
    if request is None:
        return None
    try:
        codec = api(key).request.codec(version)
        for slot in codec.layout.slots:
            if slot.name in TIMEOUTS:
                return slot.name, int(codec.project(slot.name)(request)[slot.name])
    except (LookupError, Malformed):
        pass
    return None
