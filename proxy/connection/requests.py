"""Requests: read as far as needed, entered among those that wait, put to the rules."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.context.naming import group_of
from barnabas.captures.kafka.exchange import GSSAPI_START, SASL_TOKEN, UNREADABLE
from barnabas.captures.kafka.notes import NOT_OFFERED
from barnabas.captures.kafka.pairing import sasl_frames
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.decisions import decide, message_of
from barnabas.proxy.connection.dispatch import Dispatch
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.state import State
from barnabas.proxy.edits.edits import asked_as_oldest
from barnabas.proxy.matching.kinds import known
from barnabas.proxy.rules.plan import SASL, code, skimmable
from barnabas.proxy.rules.prefix_cache import (
    LONG,
    deciding_prefix,
    known_prefix,
    unmatched_sizes,
)
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import leaks
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.keys import PRODUCE, SASL_HANDSHAKE
from barnabas.specs.malformed import Malformed

UNREAD: Final = "the header can't be read"
ADDRESSES: Final = "the header can't be read; the answer may hold addresses"
"""The same of an API that has any: if a broker answers, that may not pass."""


class Requests:
    """What one connection does with requests."""

    def __init__(self, state: State, actions: ActionBuffer, dispatch: Dispatch) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch
        self.ingress = state.ingress["request"]

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """The first bytes of a request: whether it must be whole before it leaves.

        Raises Short if its header is not complete, Malformed if it can't be read.
        """
        state, ingress = self.state, self.ingress
        ingress.pending = None
        if ingress.frames == 0 and have > 4 and view[4] == GSSAPI_START:
            state.raw_tokens = True
        head = self._head(view, have)
        if state.raw_tokens and (head is None or not known(head.key, head.version)):
            return self.headless(now, SASL_TOKEN)
        if head is None:
            raise Malformed("header", have - 4, "the header is truncated")
        ingress.head = head
        self._identify(head)
        too_new = state.plan.too_new(head.key, head.version)
        if not (known(head.key, head.version) or too_new):
            name = NAMES.get(head.key, f"API key {head.key}")
            reason = f"{name} v{head.version} is unknown here"
            self.actions.flag("request", ingress.frames, at, reason)
        if state.hide("request", head.key, head.version) or self._needs_all(head, view, have):
            return True
        if state.queues["request"].busy or state.shared.partitions:
            return True
        if head.acks != 0:
            ingress.pending = self._pending(head, now)
            self._enter(ingress.pending)
        return False

    def _head(self, view: memoryview | bytes, have: int) -> RequestHead | None:
        """Return the header; None if the frame ends before it does, or may be a token without one."""
        try:
            return request_head(view, 4, have)
        except Short:
            if have < 4 + self.ingress.size:
                raise
        except Malformed:
            if not self.state.raw_tokens:
                raise
        return None

    def headless(self, now: int, key: int, note: str = "") -> bool:
        """A request without a header, or none that can be read: its answer is paired by order alone.

        `key` is that of its API, as far as can be told, or SASL_TOKEN. No rule is about it, but it
        keeps its place: True if it can't leave yet.
        """
        ingress, client_id = self.ingress, self.state.client_id
        stands_for = SASL_TOKEN if key == SASL_TOKEN else UNREADABLE
        ingress.head = None
        ingress.pending = Pending(
            0, stands_for, 0, client_id, ingress.size, now, now, opaque=True, note=note
        )
        ingress.pending.user = self.state.user
        hidden = self.state.hide("request", key if key in NAMES else stands_for, -1)
        if hidden or key == SASL_TOKEN or self.state.queues["request"].busy:
            return True
        self._enter(ingress.pending)
        return False

    def unreadable(self, view: memoryview | bytes, now: int) -> bool:
        """A request whose header can't be read: whether it can't leave yet."""
        key = int.from_bytes(bytes(view[4:6]), signed=True)
        hides = self.ingress.size > 1 and leaks(key)
        return self.headless(now, key, ADDRESSES if hides else UNREAD)

    def passed(self, frame: bytes | None, now: int) -> None:
        """A request that passed as it came is through; `frame` is its copy, if one was made."""
        head, pending = self.ingress.head, self.ingress.pending
        if head is None:
            return
        body = None if frame is None else frame[4 + head.body :]
        if pending is not None:
            self.state.keep(pending, body)
        else:
            pending = self._pending(head, now)
            self.state.keep(pending, body)
            self.actions.done(pending, note="no response (acks=0)")

    def cut_off(self, note: str, now: int) -> None:
        """A request that has begun will never be complete; note: how much of it came. Those that expect
        a response, and pass, wait for it by now."""
        head, pending = self.ingress.head, self.ingress.pending
        if pending is not None:
            pending.note = pending.note or note
        elif head is not None and known(head.key, head.version):
            self.actions.done(self._pending(head, now), note=note)

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """A request that was collected: put it to the rules."""
        state, head, pending = self.state, self.ingress.head, self.ingress.pending
        ordinal = self.ingress.frames - 1
        if head is None:
            assert pending is not None  # noqa: S101 - made by `headless`
            self._whole_headless(frame, pending, ordinal, now, at)
            return
        pending = self._pending(head, now)
        body = frame[4 + head.body :]
        state.keep(pending, body)
        if state.plan.offer.excludes(head.key, head.version) and not state.queues["request"].lost:
            state.not_offered = f"{NAMES.get(head.key, f'API key {head.key}')} v{head.version}"
            state.queues["request"].lost = True
            self.actions.cut(
                "request", at, {"frame": ordinal, "left": "never", "note": NOT_OFFERED}
            )
            pending.sent = 0
            self.actions.done(pending, note=NOT_OFFERED)
            return
        if head.key in SASL:
            self._sasl(pending, body, ordinal, at)
        if state.plan.too_new(head.key, head.version):
            outgoing = OutgoingFrame(asked_as_oldest(frame), ordinal, now, pending)
            outgoing.changed = ("versions",)
            self.dispatch.request(outgoing, [], now, at)
            return
        rules = state.plan.rules
        if rules.needs_group:
            pending.group = group_of(head.key, head.version, body)
        outgoing = OutgoingFrame(frame, ordinal, now, pending)
        message = message_of(state, "request", pending, outgoing, 4 + head.body, head.acks)
        decisions = decide(state, self.actions, outgoing, message)
        pending.rules = tuple(decision.rule for decision in decisions)
        outgoing.awaited, outgoing.answered = head.acks != 0, message.acks != 0
        self.dispatch.request(outgoing, decisions, now, at)

    def _whole_headless(
        self, frame: bytes, pending: Pending, ordinal: int, now: int, at: int
    ) -> None:
        if not pending.note:  # a token, and not a header that can't be read
            self.state.keep(pending, frame[4:])
            self._sasl(pending, frame[4:], ordinal, at)
        self.state.order.expect(pending)
        outgoing = OutgoingFrame(frame, ordinal, now, pending)
        self.dispatch.frame("request", outgoing, [], now, at)

    def _sasl(self, pending: Pending, body: bytes, ordinal: int, at: int) -> None:
        """A request of an authentication: the capture says who it is, since it can't show the token."""
        pending.sasl = sasl_frames.note_request(self.state.sasl, pending, body)
        if pending.sasl:
            self.actions.cut("request", at, {"frame": ordinal, "sasl": pending.sasl})

    def _identify(self, head: RequestHead) -> None:
        state = self.state
        if not state.identified or state.client_id != head.client_id:
            state.identify(head.client_id)
            state.several |= state.identified
            state.identified = True
        state.raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0

    def _needs_all(self, head: RequestHead, view: memoryview | bytes, have: int) -> bool:
        """Whether a request must be whole before it leaves; if not, those like it are familiar."""
        state, size, kind = self.state, self.ingress.size, (head.key, head.version)
        seen = state.known_prefixes.get(code(*kind))
        if seen is not None and seen.resembles(view, size):
            return False
        if state.plan.whole("request", *kind):
            return True
        rules = state.candidates.of("request", *kind, head.client_id)
        asked = [rule for rule in rules if size in rule.sizes]
        if not skimmable(*kind):
            return bool(asked)
        # rules about other clients' messages: the client id must stay the same
        named = state.plan.rules
        looks = bool(named.candidates("request", *kind) or named.candidates("response", *kind))
        looks |= head.key == PRODUCE
        end = deciding_prefix(asked, head, view, have) if looks else None
        if (end is not None or not looks) and (end or 0) <= LONG:
            others = [rule for rule in rules if rule not in asked]
            sizes = unmatched_sizes(others, size, state.limits.frame)
            state.known_prefixes[code(*kind)] = known_prefix(head, view, end, sizes)
        return bool(asked) and end is None

    def _pending(self, head: RequestHead, now: int) -> Pending:
        size = self.ingress.size
        client_id = (
            self.state.client_id
        )  # the one in the header, see `_identify`: kept once for all
        pending = Pending(head.correlation_id, head.key, head.version, client_id, size, now, now)
        pending.user = self.state.user
        return pending

    def _enter(self, pending: Pending) -> None:
        self.state.pairing.sent(pending)
        self.state.order.expect(pending)
