"""Handles requests: reads the header, enters them among the pending ones, and passes them to the rules."""

from __future__ import annotations

from functools import partial
from typing import Final

from barnabas.captures.kafka.context.request_group import group_of
from barnabas.captures.kafka.exchange import GSSAPI_START, SASL_TOKEN, UNREADABLE
from barnabas.captures.kafka.notes import NOT_OFFERED
from barnabas.captures.kafka.pairing import sasl_frames
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.decisions import decide, message_of
from barnabas.proxy.connection.dispatch import Dispatch
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.session_ends import end_session
from barnabas.proxy.connection.state import State
from barnabas.proxy.edits.edits import asked_as_oldest
from barnabas.proxy.edits.share_releases import KEYS as RELEASING
from barnabas.proxy.edits.share_releases import without_releases
from barnabas.proxy.effects import Amend
from barnabas.proxy.matching.contents import is_declared
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.plan import SASL, code, skimmable
from barnabas.proxy.rules.prefix_cache import (
    MAX_PREFIX,
    deciding_prefix,
    known_prefix,
    unmatched_sizes,
)
from barnabas.proxy.rules.rules import Decision
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import leaks
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.keys import PRODUCE, SASL_HANDSHAKE
from barnabas.specs.malformed import Malformed

UNREAD: Final = "the header can't be read"
ADDRESSES: Final = "the header can't be read; the answer may hold addresses"
"""The note on a request whose API may have addresses in its response: that response must not pass."""


RELEASED: Final = "released withheld records"
"""The description of a request that releases records, see `proxy.edits.share_releases`."""


class Requests:
    """The handler of one connection's requests."""

    def __init__(self, state: State, actions: ActionBuffer, dispatch: Dispatch) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch
        self.ingress = state.ingress["request"]

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """Read the first bytes of a request and return whether it must be whole before it leaves.

        Raises:
            Short: The header is incomplete.
            Malformed: The header cannot be read.
        """
        state, ingress = self.state, self.ingress
        ingress.pending = None
        if ingress.frames == 0 and have > 4 and view[4] == GSSAPI_START:
            state.raw_tokens = True
        head = self._head(view, have)
        if state.raw_tokens and (head is None or not is_declared(head.key, head.version)):
            return self.headless(now, SASL_TOKEN)
        if head is None:
            raise Malformed("header", have - 4, "the header is truncated")
        ingress.head = head
        self._identify(head)
        too_new = state.plan.too_new(head.key, head.version)
        if not (is_declared(head.key, head.version) or too_new):
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
        """Enter a request without a readable header, whose response is paired by order alone.

        No rule applies to it. Return whether it must wait for the frames before it. `key` is the API key as
        far as it is known, or SASL_TOKEN; `note` says why the header is unreadable.
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
        """Enter a request whose header cannot be read; return whether it must wait for frames before it."""
        key = int.from_bytes(bytes(view[4:6]), signed=True)
        hides = self.ingress.size > 1 and leaks(key)
        return self.headless(now, key, ADDRESSES if hides else UNREAD)

    def passed(self, frame: bytes | None, now: int) -> None:
        """Retain the body of a request that has passed, or end the exchange if it expects no response."""
        head, pending = self.ingress.head, self.ingress.pending
        if head is None:
            return
        body = None if frame is None else frame[4 + head.body :]
        if pending is not None:
            self.state.retain_body(pending, body)
        else:
            pending = self._pending(head, now)
            self.state.retain_body(pending, body)
            self.actions.done(pending, note="no response (acks=0)")

    def cut_off(self, note: str, now: int) -> None:
        """Note on the pending request that its frame will never be complete, or end its exchange."""
        head, pending = self.ingress.head, self.ingress.pending
        if pending is not None:
            pending.note = pending.note or note
        elif head is not None and is_declared(head.key, head.version):
            self.actions.done(self._pending(head, now), note=note)

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """Pass a collected request to the rules, or refuse it if its version is not offered."""
        state, head, pending = self.state, self.ingress.head, self.ingress.pending
        ordinal = self.ingress.frames - 1
        if head is None:
            assert pending is not None  # noqa: S101 - made by `headless`
            self._whole_headless(frame, pending, ordinal, now, at)
            return
        pending = self._pending(head, now)
        body = frame[4 + head.body :]
        state.retain_body(pending, body)
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
        message = message_of(state, "request", pending, outgoing, body, head.acks)
        decisions = decide(state, self.actions, outgoing, message)
        ends = any(decision.is_final for decision in decisions)
        if head.key == PRODUCE and (message.changed or ends or state.batch_order):
            self._keep_order(outgoing, message, body, decisions)
        decisions += end_session(message, decisions)
        if (
            state.shared.releases
            and head.key in RELEASING
            and not any(decision.is_final for decision in decisions)
        ):
            self._release(outgoing, message)
        pending.rules = tuple(decision.rule for decision in decisions)
        outgoing.awaited, outgoing.answered = head.acks != 0, message.acks != 0
        self.dispatch.request(outgoing, decisions, now, at)

    def _keep_order(
        self, outgoing: OutgoingFrame, message: Message, body: bytes, decisions: list[Decision]
    ) -> None:
        """Refuse batches after a refused first one, and add the decision."""
        changes = message.changed
        decisions += self.state.batch_order.apply(message, body, decisions)
        if message.changed != changes:
            outgoing.data = message.frame
            outgoing.changed += message.changed[len(changes) :]

    def _release(self, outgoing: OutgoingFrame, message: Message) -> None:
        """Release records of a share group that rules have withheld, with a request that is forwarded."""
        state, pending = self.state, outgoing.pending
        kind = message.key, message.version
        released = state.shared.releases.released(state.broker, *kind, message.body or b"")
        if released is None or pending is None:
            return
        body, added = released
        message.become(body, None, RELEASED)
        outgoing.data, outgoing.changed = message.frame, (*outgoing.changed, RELEASED)
        if added:
            change = partial(without_releases, *kind, added)
            state.reply(pending).amends += ((RELEASED, Amend(change, "removed added releases")),)

    def _whole_headless(
        self, frame: bytes, pending: Pending, ordinal: int, now: int, at: int
    ) -> None:
        if not pending.note:  # a token, and not a header that can't be read
            self.state.retain_body(pending, frame[4:])
            self._sasl(pending, frame[4:], ordinal, at)
        self.state.order.expect(pending)
        outgoing = OutgoingFrame(frame, ordinal, now, pending)
        self.dispatch.frame("request", outgoing, [], now, at)

    def _sasl(self, pending: Pending, body: bytes, ordinal: int, at: int) -> None:
        """Note the authentication in the capture, which cannot show the token."""
        pending.sasl = sasl_frames.note_request(self.state.sasl, pending, body)
        if pending.sasl:
            self.actions.cut("request", at, {"frame": ordinal, "sasl": pending.sasl})

    def _identify(self, head: RequestHead) -> None:
        state = self.state
        if not state.identified or state.client_id != head.client_id:
            state.identify(head.client_id)
            state.several_client_ids |= state.identified
            state.identified = True
        state.raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0

    def _needs_all(self, head: RequestHead, view: memoryview | bytes, have: int) -> bool:
        """Return whether a request must be whole before it leaves.

        If not, remember how it begins: similar requests pass unread.
        """
        state, size, api_version = self.state, self.ingress.size, (head.key, head.version)
        if head.key == PRODUCE and state.batch_order:
            return True
        prefix = state.known_prefixes.get(code(*api_version))
        if prefix is not None and prefix.resembles(view, size):
            return False
        if state.plan.whole("request", *api_version):
            return True
        rules = state.candidates.of("request", *api_version, head.client_id)
        matching = [rule for rule in rules if size in rule.sizes]
        if not skimmable(*api_version):
            return bool(matching)
        # rules about other clients' messages: the client id must stay the same
        named = state.plan.rules
        looks = bool(
            named.candidates("request", *api_version) or named.candidates("response", *api_version)
        )
        looks |= head.key == PRODUCE
        end = deciding_prefix(matching, head, view, have) if looks else None
        if (end is not None or not looks) and (end or 0) <= MAX_PREFIX:
            unmatched = [rule for rule in rules if rule not in matching]
            sizes = unmatched_sizes(unmatched, size, state.limits.frame)
            state.known_prefixes[code(*api_version)] = known_prefix(head, view, end, sizes)
        return bool(matching) and end is None

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
