"""Handles the frames of a dialect: collects each frame, pairs it, and passes it to the rules.

A connection has this handler instead of `requests` and `responses`. The dialect's pairing distinguishes
requests from responses, since either side may send requests.
"""

from __future__ import annotations

from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.pairing.dialect_pairing import DialectRequest, DialectResponse, Pairing
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
    """The handler of one direction's frames; the handlers of both directions share one pairing."""

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
        """Collect every frame: return True."""
        self.state.ingress[self.direction].pending = None
        return True

    def unreadable(self, view: memoryview | bytes, now: int) -> bool:
        """Collect a frame without reading its header: return True."""
        return True

    def passed(self, frame: bytes | None, now: int) -> None:
        """Do nothing: no frame of a dialect passes unread."""

    def cut_off(self, note: str, now: int) -> None:
        """Do nothing: an incomplete frame belongs to no exchange yet."""

    def own_replies(self, now: int) -> None:
        """Do nothing: the proxy sends no response of its own in a dialect."""

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """Pair a complete frame and pass it to the rules; forward an unreadable frame unchanged."""
        ordinal = self.state.ingress[self.direction].frames - 1
        try:
            paired = self.pairing.frame(self.direction, frame[4:])
        except (Malformed, LookupError) as problem:
            self.actions.flag(self.direction, ordinal, at, self.state.reason(problem))
            self.dispatch.frame(self.direction, OutgoingFrame(frame, ordinal, now), [], now, at)
            return
        if self.state.client_id != self.pairing.client:
            self.state.identify(self.pairing.client)
        if isinstance(paired, DialectRequest):
            self._request(paired, frame, ordinal, now, at)
        else:
            self._response(paired, frame, ordinal, now, at)

    def _request(
        self, request: DialectRequest, frame: bytes, ordinal: int, now: int, at: int
    ) -> None:
        pending = Pending(
            request.correlation_id,
            request.key,
            request.version,
            request.client_id,
            len(frame) - 4,
            now,
            now,
        )
        self.state.retain_body(pending, request.body)
        request.reason = pending
        outgoing = OutgoingFrame(frame, ordinal, now)
        decisions = self._decide("request", outgoing, pending, request.body)
        pending.rules = tuple(decision.rule for decision in decisions)
        self.dispatch.frame(self.direction, outgoing, decisions, now, at)
        if is_lost(decisions):
            self.pairing.forget(request)
            self.actions.done(pending, note="request not forwarded: by a rule")
        elif not request.expects_response:
            self.actions.done(pending, note=UNANSWERED)
        elif not self.state.over:
            self.state.pairing.sent(pending)

    def _response(
        self, answer: DialectResponse, frame: bytes, ordinal: int, now: int, at: int
    ) -> None:
        pending: Pending = answer.request.reason
        if pending in self.state.pairing.waiting:
            self.state.pairing.waiting.remove(pending)
        self.state.pairing.note_response(pending, now)
        outgoing = OutgoingFrame(frame, ordinal, now)
        body = self._replace_addresses(outgoing, answer)
        if isinstance(body, str):
            self.actions.withhold(self.direction, pending, at, body, now)
            return
        decisions = self._decide("response", outgoing, pending, body)
        rules = tuple(decision.rule for decision in decisions)
        self.dispatch.frame(self.direction, outgoing, decisions, now, at)
        lost = is_lost(decisions)
        pending.note = answer.error
        note = "response not forwarded: by a rule" if lost else ""
        departed_at = None if lost else max(now, outgoing.delivery.not_before)
        size = len(frame) - 4
        self.actions.done(pending, Outcome(now, departed_at, size, body, rules=rules), note)

    def _replace_addresses(self, outgoing: OutgoingFrame, answer: DialectResponse) -> bytes | str:
        """Return a response's body with its addresses replaced, or the reason against it."""
        request, body = answer.request, answer.body
        if answer.error:
            return body
        try:
            changed = patch(request.key, request.version, body, self.state.resolve)
        except Malformed as problem:
            return f"{request.api}: {self.state.reason(problem)}; addresses in it can't be replaced"
        except OSError as problem:
            return str(problem)
        if changed is None:
            return body
        head = outgoing.data[4 : len(outgoing.data) - len(body)]
        outgoing.data = (len(head) + len(changed)).to_bytes(4) + head + changed
        outgoing.changed = ("addresses",)
        return changed

    def _decide(
        self, role: Direction, outgoing: OutgoingFrame, pending: Pending, body: bytes
    ) -> list[Decision]:
        """Return the decisions of the rules after applying their changes to the outgoing frame."""
        state = self.state
        message = message_of(state, role, pending, outgoing, body)
        if state.over:
            return []
        decisions = decide(state, self.actions, outgoing, message)
        outgoing.rules = tuple(decision.rule for decision in decisions)
        return decisions
