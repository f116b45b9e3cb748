"""Sends frames whose time has come and accounts for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.captures.kafka.pairing.exchange_builder import Outcome
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Departure, Finish
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.state import Reply, State
from barnabas.proxy.effects import Pieces
from barnabas.proxy.rules.rule import Rule
from barnabas.specs.frames import Direction

UNANSWERED: Final = "no response (acks=0)"


class Egress:
    """The outgoing side of both directions of one connection."""

    def __init__(self, state: State, actions: ActionBuffer) -> None:
        self.state = state
        self.actions = actions
        self._finished: set[Direction] = set()

    def pump(self, direction: Direction, now: int) -> None:
        """Send the due frames, unless a frame that passes in chunks is under way."""
        state = self.state
        queue, ingress = state.queues[direction], state.ingress[direction]
        if queue.idle and not queue.ending:
            return
        windows = state.shared.windows
        windows.expire(now)
        while not state.over:
            windows.advance()
            for held in queue.expire(now):
                _count(state.plan.rules.rule(held.rule), held.met, held.ended)
            frame = None if ingress.passing else queue.next(now)
            if frame is None:
                break
            self._leave(direction, frame, now)
        if queue.ending and queue.idle and not (state.over or direction in self._finished):
            self._finished.add(direction)
            self.actions.append(Finish(direction))

    def abandon(self) -> int:
        """Account for the frames that never left and return their number: the connection is closed."""
        waiting = [
            (direction, frame)
            for direction, queue in self.state.queues.items()
            for frame in queue.abandon()
        ]
        waiting += [("response", frame) for frame in self.state.order.abandon()]
        for direction, frame in waiting:
            self.actions.lost(direction, frame, f"{direction} not forwarded: connection closed")
        return len(waiting)

    def _leave(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        state, actions, delivery = self.state, self.actions, frame.delivery
        if (halted := delivery.halted) is not None:
            delivery.halted = None
            _count(state.plan.rules.rule(halted.rule), halted.decided, halted.ended)
        pieces = delivery.effects.pieces
        if pieces is not None and delivery.gone + pieces.size < len(frame.data):
            self._leave_in_part(direction, frame, pieces, now)
            return
        if frame.data:  # nothing leaves of a request that the proxy answers
            actions.send(direction, frame.data[delivery.gone :])
            if frame.changed or delivery.late or frame.ordinal < 0:
                actions.append(Departure(direction, frame.data, frame.comment(), *frame.kind))
            state.queues[direction].passed()
        if frame.pending is not None and not delivery.accounted:
            if direction == "request":
                self._await_response(frame, frame.pending, now)
            else:
                received_at = frame.arrived if frame.ordinal >= 0 else None
                size, body = len(frame.data) - 4, frame.response_body
                actions.done(
                    frame.pending, Outcome(received_at, now, size, body, rules=frame.rules)
                )
        message = None if delivery.accounted else frame.message
        if (
            message is not None
            and frame.data
            and state.plan.watched(message.direction, message.key, message.version)
        ):
            state.shared.passed(message)
        self._follow_up(direction, frame, now)

    def _follow_up(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        """Repeat a frame that has left, end its direction, or close the connection, as rules decided."""
        effects, queue = frame.delivery.effects, self.state.queues[direction]
        if frame.data:
            for _ in range(effects.copies):
                self._repeat(direction, frame, now)
        if effects.half_close is not None:
            for other in queue.abandon():
                self.actions.lost(direction, other, f"{direction} lost after a half-close")
            queue.ending = True
        if effects.hang_up is not None:
            self.actions.abort(CUT_OFF, reset=effects.hang_up.reset)

    def _repeat(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        """Send a frame again; the response to a repeated request will be removed."""
        comment = {"frame": frame.ordinal, "what": ["repeated"]}
        self.actions.send(direction, frame.data)
        self.actions.append(Departure(direction, frame.data, comment, *frame.kind))
        if direction == "request" and frame.pending is not None and frame.answered:
            copy = replace(frame.pending, sent=now)
            self.state.replies[copy] = Reply(unwanted=True)
            self.state.pairing.sent(copy)

    def _await_response(self, frame: OutgoingFrame, pending: Pending, now: int) -> None:
        """Enter a request that has left among those that wait for a response, or end its exchange."""
        state = self.state
        pending.sent = now if frame.data else 0
        if frame.answered and not frame.awaited:
            state.replies[pending] = Reply(unwanted=True)
            self.actions.done(pending, note=UNANSWERED)
        unwanted = state.is_unwanted(pending)
        if frame.answered:
            state.pairing.sent(pending)
            if pending not in state.order.expected and not unwanted:
                state.order.expect(pending)
        elif unwanted:
            del state.replies[pending]
        else:
            state.forget_reply(pending)
            self.actions.done(pending, note=UNANSWERED)

    def _leave_in_part(
        self, direction: Direction, frame: OutgoingFrame, pieces: Pieces, now: int
    ) -> None:
        """Send the next piece of a frame and put the rest back at the head of the queue."""
        delivery = frame.delivery
        self.actions.send(direction, frame.data[delivery.gone : delivery.gone + pieces.size])
        delivery.gone += pieces.size
        delivery.not_before = now + pieces.every
        self.state.queues[direction].put_back(frame)


def _count(rule: Rule, met: bool, ended: bool) -> None:
    """Count the reason for which a frame that a rule held leaves."""
    rule.released += met
    rule.ended += ended and not met
    rule.expired += not (ended or met)
