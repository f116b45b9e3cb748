"""Handles responses: pairs them, replaces brokers' addresses in them, and passes them to the rules."""

from __future__ import annotations

import struct
from typing import Any

from barnabas.captures.kafka.exchange import STRAY, body_version
from barnabas.captures.kafka.notes import PASSED_OVER, REPEATED
from barnabas.captures.kafka.pairing import sasl_frames
from barnabas.captures.kafka.pairing.exchange_builder import Outcome
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.kafka.wording import arrow
from barnabas.plural import plural
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Departure
from barnabas.proxy.connection.amendments import amend
from barnabas.proxy.connection.decisions import decide, message_of
from barnabas.proxy.connection.dispatch import ANSWERED, Dispatch
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.requests import ADDRESSES, UNREAD
from barnabas.proxy.connection.state import State
from barnabas.proxy.edits.edits import edit_response, needs_body, unsupported_version
from barnabas.proxy.matching.contents import is_declared
from barnabas.proxy.rules.plan import code, skimmable
from barnabas.proxy.rules.prefix_cache import unmatched_sizes
from barnabas.proxy.rules.rules import Decision
from barnabas.proxy.topic_names.names import teaches
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import leaks
from barnabas.specs.frames import Short, response_body
from barnabas.specs.headers import response_header_version
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed
from barnabas.specs.node_endpoints import BEGIN, ResponseTail, ends_with_endpoints

_SIZE = struct.Struct(">i")
_RESPONSE = struct.Struct(">ii")


class Responses:
    """The handler of one connection's responses."""

    def __init__(self, state: State, actions: ActionBuffer, dispatch: Dispatch) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch
        self.ingress = state.ingress["response"]

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """Pair the first bytes of a response and return whether it must be whole before it leaves.

        Raises:
            Short: The header is incomplete.
            Malformed: The header cannot be read.
        """
        state, ingress = self.state, self.ingress
        busy = state.queues["response"].busy or bool(state.shared.partitions)
        ingress.withheld = ""
        ingress.pending = None
        correlation_id = self._correlation_id(view, have, now)
        ingress.pending, in_order = state.pairing.answer(correlation_id)
        pending = ingress.pending
        if pending is None:
            # it may be of any API: a real address may not leave
            reason = f"no request in flight has correlation id {correlation_id}"
            if state.rehearses:
                self.actions.flag("response", ingress.frames, at, reason)
                return busy
            ingress.withheld = f"{reason}; addresses in such a response can't be replaced"
            state.hide("response", STRAY, -1)
            return True
        if leaks(pending.key, pending.version) or pending.note == ADDRESSES:
            reason = f"addresses in the answer to {_describe(pending)} can't be replaced"
            ingress.withheld = reason
            state.hide("response", pending.key, pending.version)
            return True
        if not in_order:
            reason = f"correlation id {correlation_id} is out of order"
            self.actions.flag("response", ingress.frames, at, reason)
        hidden = state.hide("response", pending.key, pending.version)
        if hidden or busy or pending in state.replies or state.order.must_wait(pending):
            return True
        if pending.opaque:
            return not pending.note
        return self._needs_all(pending, view)

    def _correlation_id(self, view: memoryview | bytes, have: int, now: int) -> int | None:
        """Return the correlation id of a response; None if its request had no header.

        Earlier requests that it passes over get no response any more: end their exchanges.
        """
        size, waiting = self.ingress.size, self.state.pairing.waiting
        correlation_id = None
        if size >= 4:
            if have < 8:
                raise Short
            correlation_id = _RESPONSE.unpack_from(view)[1]
            for unanswered in self.state.pairing.passed_over(correlation_id):
                self.state.forget_reply(unanswered)
                self.actions.done(unanswered, note=PASSED_OVER)
                self.dispatch.turn(unanswered, now)
        elif not (waiting and waiting[0].opaque):
            raise Malformed("header", 0, f"a response of {size} bytes")
        return None if waiting and waiting[0].opaque else correlation_id

    def _needs_all(self, pending: Pending, view: memoryview | bytes) -> bool:
        """Return whether a response must be whole before it leaves.

        If not, remember which sizes pass unread.
        """
        state, ingress = self.state, self.ingress
        api_version = pending.key, pending.version
        if state.plan.whole("response", *api_version):
            return True
        rules = state.candidates.of("response", *api_version, pending.client_id)
        if any(ingress.size in rule.sizes for rule in rules):
            return True
        tailed = ends_with_endpoints(*api_version)
        if skimmable(*api_version) and not state.several_client_ids:
            sizes = unmatched_sizes(rules, ingress.size, state.limits.frame)
            state.passing_sizes[code(*api_version)] = sizes, tailed
        if tailed:
            if state.observed or ingress.size <= state.limits.whole:
                return True
            ingress.tail = ResponseTail(*api_version, ingress.size, keep=state.plan.captured)
            ingress.tail.find(view, 0, BEGIN, ingress.size + 4 - BEGIN)
        return False

    def unreadable(self, view: memoryview | bytes, now: int) -> bool:
        """Return whether an unreadable response must wait for frames before it."""
        return self.state.queues["response"].busy

    def passed(self, frame: bytes | None, now: int) -> None:
        """End the exchange of a response that has passed, and release the responses after it."""
        pending = self.ingress.pending
        if pending is None:
            return
        self.state.pairing.note_response(pending, now)
        body = None if frame is None else frame[4 + _body(frame, pending)[0] :]
        self.actions.done(pending, Outcome(now, now, self.ingress.size, body))
        self.dispatch.turn(pending, now)

    def cut_off(self, note: str, now: int) -> None:
        """End the exchange of a response that will never be complete."""
        if self.ingress.pending is not None:
            self.actions.done(self.ingress.pending, note=note)

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """Handle a collected response: withhold it, replace its tail, remove it, or deliver it."""
        pending, ordinal = self.ingress.pending, self.ingress.frames - 1
        tail, self.ingress.tail = self.ingress.tail, None
        if self.ingress.withheld:
            self.actions.withhold("response", pending, at, self.ingress.withheld, now)
        elif tail is not None:
            self._send_tail(tail, frame, ordinal, now, at)
        elif pending is None:  # it can't be read, but keeps its place
            self.dispatch.frame("response", OutgoingFrame(frame, ordinal, now), [], now, at)
        elif self.state.is_unwanted(pending):
            del self.state.replies[pending]
            self.actions.cut("response", at, {"frame": ordinal, "left": "never", "note": REPEATED})
        else:
            self.state.pairing.note_response(pending, now)
            self._deliver(frame, pending, ordinal, now, at)

    def own_replies(self, now: int) -> None:
        """Send the proxy's own responses whose turn has come."""
        state = self.state
        waiting = state.pairing.waiting
        while waiting and not state.queues["response"].ending:
            reply = state.replies.get(waiting[0])
            if reply is None or reply.body is None:
                return
            pending = waiting.popleft()
            pending.note = ANSWERED
            body, reply.body = reply.body, None
            state.retained_bytes -= len(body)
            if response_header_version(pending.key, pending.version):
                body = b"\0" + body  # no tags in the header
            frame = _RESPONSE.pack(4 + len(body), pending.correlation_id) + body
            self._deliver(frame, pending, -1, now, 0)

    def _deliver(self, frame: bytes, pending: Pending, ordinal: int, now: int, at: int) -> None:
        """Edit a whole response and pass it to the rules. The ordinal is -1 for the proxy's own response."""
        state = self.state
        outgoing = OutgoingFrame(frame, ordinal, now, pending)
        decisions: list[Decision] = []
        start, unread = _body(frame, pending)
        offset = 4 + start
        if pending.key in sasl_frames.KEYS:
            before = state.user
            outcome = sasl_frames.note_response(state.sasl, pending, frame[offset:])
            if outcome or state.user != before:
                pending.sasl = arrow(pending.sasl, outcome)
                comment = {"frame": ordinal, "sasl": outcome, "user": state.user}
                self.actions.cut("response", at, comment)
        if not pending.opaque:
            outgoing.response_body = frame[offset:]
            if ordinal < 0:
                outgoing.changed = (pending.note,)
            elif is_declared(pending.key, pending.version) or state.plan.too_new(
                pending.key, pending.version
            ):
                self._edit(outgoing, offset, unread, at)
                if state.over:
                    return
            if ordinal >= 0 and state.plan.follows_session(pending.key):
                state.shared.learn_session(pending, state.broker, outgoing.response_body)
            original = outgoing.response_body
            body, changes, failed = amend(state, self.actions, pending, original)
            if changes:
                self._set_body(outgoing, offset, body)
                outgoing.changed += changes
            if teaches(pending.key, pending.version):
                state.shared.topics.add_response(pending.key, pending.version, body)
            message = message_of(state, "response", pending, outgoing, body)
            decisions = [*failed, *decide(state, self.actions, outgoing, message)]
            outgoing.rules = tuple(decision.rule for decision in decisions)
            outgoing.response_body = message.body
        self.dispatch.response(outgoing, decisions, now, at)

    def _set_body(self, outgoing: OutgoingFrame, offset: int, body: bytes) -> None:
        """Replace the body of an outgoing response, which begins at an offset of the frame."""
        head = outgoing.data[4:offset]
        outgoing.data = _SIZE.pack(len(head) + len(body)) + head + body
        outgoing.response_body = body

    def _edit(
        self, outgoing: OutgoingFrame, offset: int, unread: Malformed | None, at: int
    ) -> None:
        """Replace addresses and version ranges in the outgoing frame.

        Close the connection if addresses cannot be found or the header is unreadable.
        """
        state, pending, body = self.state, outgoing.pending, outgoing.response_body
        assert pending is not None  # noqa: S101
        assert body is not None  # noqa: S101
        version = body_version(pending.key, pending.version, "response", body)
        try:
            if unread is not None and needs_body(pending.key, pending.version):
                raise unread
            changed: bytes | None
            if state.plan.too_new(pending.key, pending.version):
                changed = unsupported_version(body, state.plan.offer)
            else:
                changed = edit_response(pending.key, version, body, state.resolve, state.plan.offer)
        except Malformed as problem:
            reason = f"{NAMES[pending.key]} v{pending.version}: {state.reason(problem)}"
            if (
                pending.key == API_VERSIONS
            ):  # a request of a version that is not offered is refused anyway
                self.actions.flag("response", outgoing.ordinal, at, reason)
            else:
                # if a real address left, the client would bypass the proxy
                self._withhold(outgoing, f"{reason}; addresses in it can't be replaced", at)
            return
        except OSError as problem:
            self._withhold(outgoing, str(problem), at)
            return
        if changed is not None:
            self._set_body(outgoing, offset, changed)
            outgoing.changed = ("versions" if pending.key == API_VERSIONS else "addresses",)

    def _send_tail(self, tail: ResponseTail, data: bytes, ordinal: int, now: int, at: int) -> None:
        """Send the tail of a response whose beginning has left, with addresses replaced or left out."""
        state, actions = self.state, self.actions
        name = f"{NAMES[tail.key]} v{tail.version}"
        try:
            replaced, left_out = tail.replaced(data, state.resolve)
        except (Malformed, OSError) as problem:
            reason = str(problem)
            if isinstance(problem, Malformed):
                reason = f"{name}: {state.reason(problem)}; addresses in it can't be replaced"
            actions.withhold("response", self.ingress.pending, at, reason, now)
            return
        if left_out:
            actions.say(
                f"edit: {plural(left_out, 'node endpoint')} left out of a response to {name}: there is no"
                f" room for the proxy's addresses, since its size ({tail.size:,} bytes) has left already"
            )
        actions.send("response", replaced)
        if replaced != data:
            comment: dict[str, Any] = {"frame": ordinal, "edits": ["addresses"]}
            actions.cut("response", at, {**comment, "left": "changed"})
            if tail.kept is not None:
                frame = bytes(tail.kept) + replaced
                actions.append(Departure("response", frame, comment, tail.key, tail.version))
        self.passed(None, now)

    def _withhold(self, outgoing: OutgoingFrame, reason: str, at: int) -> None:
        assert outgoing.pending is not None  # noqa: S101
        self.actions.withhold("response", outgoing.pending, at, reason, outgoing.arrived)


def _describe(pending: Pending) -> str:
    """Return words for a request whose response must not pass."""
    if pending.opaque:
        return f"a request of which {UNREAD}"
    return f"{NAMES[pending.key]} v{pending.version}, which is not offered,"


def _body(frame: bytes, pending: Pending) -> tuple[int, Malformed | None]:
    """Return the offset of a response's body after the size, and the error if the header cannot be read.

    A raw token has no header.
    """
    if pending.opaque:
        return 0, None
    if not is_declared(pending.key, pending.version):
        return 4, None
    try:
        return response_body(frame[4:], pending.key, pending.version), None
    except Malformed as problem:
        return 4, problem
