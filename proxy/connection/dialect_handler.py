"""Frames of a dialect: each is collected, paired, and given to the rules.

A connection has this handler in place of `requests` and `responses`. The pairing of the dialect tells
requests from responses: either side may send requests.
"""

from __future__ import annotations

from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.pairing.dialect_pairing import Answer, Asked, Pairing
from barnabas.captures.kafka.pairing.exchange_builder import Outcome
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.decisions import decide, message_of
from barnabas.proxy.connection.dispatch import Dispatch, is_lost
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.state import State
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.broker_addresses import patch
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed


class DialectHandler:
    """What a connection does with the frames of one direction; both share one pairing."""

    def __init__(
        self,
        state: State,
        actions: ActionBuffer,
        dispatch: Dispatch,
        direction: Direction,
        pairing: Pairing,
    ) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch
        self.direction = direction
        self.pairing = pairing

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """The first bytes of a frame: it must be whole before it leaves."""
        self.state.ingress[self.direction].pending = None
        return True

    def unreadable(self, view: memoryview | bytes, now: int) -> bool:
        """No header is read before the frame is whole."""
        return True

    def passed(self, frame: bytes | None, now: int) -> None:
        """Nothing passes unread."""

    def cut_off(self, note: str, now: int) -> None:
        """What a frame is shows when it is whole."""

    def own_replies(self, now: int) -> None:
        """There are none."""

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """A frame is complete. What can't be read passes as it came."""
        ordinal = self.state.ingress[self.direction].frames - 1
        try:
            found = self.pairing.frame(self.direction, frame[4:])
        except (Malformed, LookupError) as problem:
            self.actions.flag(self.direction, ordinal, at, self.state.why(problem))
            self.dispatch.frame(self.direction, OutgoingFrame(frame, ordinal, now), [], now, at)
            return
        if self.state.client_id != self.pairing.client:
            self.state.identify(self.pairing.client)
        if isinstance(found, Asked):
            self._asked(found, frame, ordinal, now, at)
        else:
            self._answered(found, frame, ordinal, now, at)

    def _asked(self, asked: Asked, frame: bytes, ordinal: int, now: int, at: int) -> None:
        pending = Pending(
            asked.correlation_id,
            asked.key,
            asked.version,
            asked.client_id,
            len(frame) - 4,
            now,
            now,
        )
        self.state.keep(pending, asked.body)
        asked.reason = pending
        outgoing = OutgoingFrame(frame, ordinal, now)
        decisions = self._decided("request", outgoing, pending, asked.body)
        pending.rules = tuple(decision.rule for decision in decisions)
        self.dispatch.frame(self.direction, outgoing, decisions, now, at)
        if is_lost(decisions):
            self.pairing.forget(asked)
            self.actions.done(pending, note="request not forwarded: by a rule")
        elif not asked.answered:
            self.actions.done(pending, note=UNANSWERED)
        elif not self.state.over:
            self.state.pairing.sent(pending)

    def _answered(self, answer: Answer, frame: bytes, ordinal: int, now: int, at: int) -> None:
        pending: Pending = answer.asked.reason
        if pending in self.state.pairing.waiting:
            self.state.pairing.waiting.remove(pending)
        self.state.pairing.came(pending, now)
        outgoing = OutgoingFrame(frame, ordinal, now)
        body = self._addressed(outgoing, answer)
        if isinstance(body, str):
            self.actions.withhold(self.direction, pending, at, body, now)
            return
        decisions = self._decided("response", outgoing, pending, body)
        rules = tuple(decision.rule for decision in decisions)
        self.dispatch.frame(self.direction, outgoing, decisions, now, at)
        lost = is_lost(decisions)
        pending.note = answer.error
        note = "response not forwarded: by a rule" if lost else ""
        left = None if lost else max(now, outgoing.delivery.not_before)
        size = len(frame) - 4
        self.actions.done(pending, Outcome(now, left, size, body, rules=rules), note)

    def _addressed(self, outgoing: OutgoingFrame, answer: Answer) -> bytes | str:
        """An answer's body, with the brokers' addresses replaced; why not, if they can't be."""
        asked, body = answer.asked, answer.body
        if answer.error:
            return body
        try:
            changed = patch(asked.key, asked.version, body, self.state.resolve)
        except Malformed as problem:
            return f"{asked.api}: {self.state.why(problem)}; addresses in it can't be replaced"
        except OSError as problem:
            return str(problem)
        if changed is None:
            return body
        head = outgoing.data[4 : len(outgoing.data) - len(body)]
        outgoing.data = (len(head) + len(changed)).to_bytes(4) + head + changed
        outgoing.changed = ("addresses",)
        return changed

    def _decided(
        self, role: Direction, outgoing: OutgoingFrame, pending: Pending, body: bytes
    ) -> list[Decision]:
        """What the rules want; the outgoing becomes what they made of it."""
        state = self.state
        start = len(outgoing.data) - len(body)
        message = message_of(state, role, pending, outgoing, start)
        if state.over:
            return []
        decisions = decide(state, self.actions, outgoing, message)
        outgoing.rules = tuple(decision.rule for decision in decisions)
        return decisions
