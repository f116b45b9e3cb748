"""Responses: paired with their requests, edited where an address stands, put to the rules."""

from __future__ import annotations

import struct

from barnabas.captures.kafka.exchange import SASL_TOKEN, body_version
from barnabas.captures.kafka.pairing.conversation import PASSED_OVER, UNASKED
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.egress import Departures
from barnabas.proxy.connection.requests import ADDRESSES, ANSWERED, UNREAD, Requests
from barnabas.proxy.connection.sasl import answered
from barnabas.proxy.connection.send_queue import Item
from barnabas.proxy.connection.state import State
from barnabas.proxy.edits.edits import edit_response, needs_body
from barnabas.proxy.effects import HangUp
from barnabas.proxy.fastpath.plan import SASL, code, skimmable
from barnabas.proxy.fastpath.prefix_cache import unasked
from barnabas.proxy.matching.message import known
from barnabas.proxy.rules.rules import Decision
from barnabas.proxy.topic_names.names import teaches
from barnabas.specs import NAMES
from barnabas.specs.addresses import leaks
from barnabas.specs.frames import Short, response_body
from barnabas.specs.headers import response_header_version
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed

_SIZE = struct.Struct(">i")
_RESPONSE = struct.Struct(">ii")


class Responses:
    """What one connection does with responses."""

    def __init__(self, state: State, departures: Departures, requests: Requests) -> None:
        self.state = state
        self.departures = departures
        self.requests = requests
        self.inbound = state.inbound["response"]

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """The first bytes of a response: whether it must be whole before it leaves.

        Raises Short if its header is not complete, Malformed if it can't be read.
        """
        state, inbound = self.state, self.inbound
        busy = state.outlet["response"].busy or bool(state.crossing.partitions)
        waiting = state.pairing.waiting
        inbound.pending = None
        correlation_id = None
        if inbound.size >= 4:
            if have < 8:
                raise Short
            correlation_id = _RESPONSE.unpack_from(view)[1]
            for unanswered in state.pairing.passed_over(correlation_id):
                state.done(unanswered, note=PASSED_OVER)
                self.departures.turn(unanswered, now)
        elif not (waiting and waiting[0].opaque):
            raise Malformed("header", 0, f"a response of {inbound.size} bytes")
        opaque = bool(waiting) and waiting[0].opaque
        inbound.pending, in_order = state.pairing.answer(None if opaque else correlation_id)
        pending = inbound.pending
        if pending is not None and (
            leaks(pending.key, pending.version) or pending.note == ADDRESSES
        ):
            reason = f"addresses in the answer to {_told(pending)} can't be replaced"
            state.unread("response", inbound.frames, at, reason)
            state.withhold(pending, inbound.frames, at, inbound.size, reason, now)
            return True
        if pending is None:
            # it may be of any API: a real address may not leave
            reason = f"nobody waits for correlation id {correlation_id}"
            if state.rehearses:
                state.flag("response", inbound.frames, at, reason)
                return busy
            state.unread("response", inbound.frames, at, reason)
            reason += "; addresses in such a response can't be replaced"
            state.withhold(None, inbound.frames, at, inbound.size, reason, now)
            return True
        if not in_order:
            reason = f"correlation id {correlation_id} came out of turn"
            state.flag("response", inbound.frames, at, reason)
        hidden = state.hide("response", pending.key, pending.version)
        marked = pending in self.departures.marked
        if hidden or busy or marked or self.departures.must_wait(pending):
            return True
        if pending.opaque:
            return not pending.note
        kind = pending.key, pending.version
        if state.plan.whole("response", *kind):
            return True
        rules = state.candidates.of("response", *kind, pending.client_id)
        if any(inbound.size in rule.sizes for rule in rules):
            return True
        if skimmable(*kind) and not self.requests.several:
            state.quiet[code(*kind)] = unasked(rules, inbound.size, state.limits.frame)
        return False

    def passed(self, frame: bytes | None, now: int) -> None:
        """A response that passed as it came is through; `frame` is its copy, if one was made."""
        pending = self.inbound.pending
        if pending is None:
            return
        self.state.pairing.came(pending, now)
        body = None if frame is None else frame[4 + _body(frame, pending)[0] :]
        self.state.done(pending, self.inbound.size, body, came=now, left=now)
        self.departures.turn(pending, now)
        self.own_replies(now)

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """A response that was collected."""
        pending, ordinal = self.inbound.pending, self.inbound.frames - 1
        if pending is None:  # it can't be read, but keeps its place
            self.departures.dispose("response", Item(frame, ordinal, now), [], now, at)
        elif self.departures.marked.get(pending) == "":
            del self.departures.marked[pending]  # the client has not asked for this one
            self.state.cut("response", at, {"frame": ordinal, "left": "never", "note": UNASKED})
        else:
            self.state.pairing.came(pending, now)
            self._deliver(frame, pending, ordinal, now, at)
            self.own_replies(now)

    def own_replies(self, now: int) -> None:
        """Requests that the proxy answers itself get their reply when their turn has come."""
        waiting, replies = self.state.pairing.waiting, self.requests.replies
        while waiting and waiting[0] in replies and not self.state.outlet["response"].ending:
            pending = waiting.popleft()
            pending.note = ANSWERED
            body = replies.pop(pending)
            self.state.kept -= len(body)
            if response_header_version(pending.key, pending.version):
                body = b"\0" + body  # no tags in the header
            frame = _RESPONSE.pack(4 + len(body), pending.correlation_id) + body
            self._deliver(frame, pending, -1, now, 0)

    def _deliver(self, frame: bytes, pending: Pending, ordinal: int, now: int, at: int) -> None:
        """A whole response, from the broker or (ordinal -1) our own: edit it, ask the rules."""
        state = self.state
        item = Item(frame, ordinal, now, pending=pending)
        decisions: list[Decision] = []
        start, unread = _body(frame, pending)
        offset = 4 + start
        if pending.key in SASL or pending.key == SASL_TOKEN:
            outcome = answered(state.sasl, pending, frame[offset:])
            if outcome:
                state.cut("response", at, {"frame": ordinal, "sasl": outcome})
        if not pending.opaque:
            item.response_body = frame[offset:]
            if ordinal < 0:
                item.changed = (pending.note,)
            elif known(pending.key, pending.version):
                self._edit(item, offset, unread, at)
                if state.over:
                    return
            if teaches(pending.key, pending.version):
                state.crossing.topics.hear(pending.key, pending.version, item.response_body)
            message = state.message(
                "response",
                pending,
                len(item.data) - 4,
                item.response_body,
                head=item.data[4:offset],
                arrived=now,
            )
            item.message = message
            kind = pending.key, pending.version
            candidates = state.candidates.of("response", *kind, pending.client_id)
            if candidates:
                decisions = state.decide(candidates, message)
                item.rules = tuple(decision.rule for decision in decisions)
                if message.changed:
                    item.data, item.response_body = message.frame, message.body
                    item.changed += message.changed
            loser = self.departures.marked.pop(pending, None)
            if loser is not None:
                item.rules = (*item.rules, loser)
                decisions = [*decisions, Decision(loser, (HangUp(),), ("the reply is lost",))]
        self.departures.dispose_in_turn(item, decisions, now, at)

    def _edit(self, item: Item, offset: int, unread: Malformed | None, at: int) -> None:
        """Replace addresses and version ranges; the item's bytes and body change with them.

        Where addresses can't be found, or the header is unread, the connection is closed.
        """
        state, pending, body = self.state, item.pending, item.response_body
        assert pending is not None  # noqa: S101
        assert body is not None  # noqa: S101
        version = body_version(pending.key, pending.version, "response", body)
        try:
            if unread is not None and needs_body(pending.key, pending.version):
                raise unread
            changed = edit_response(pending.key, version, body, state.resolve, state.plan.offer)
        except Malformed as problem:
            reason = f"{NAMES[pending.key]} v{pending.version}: {state.why(problem)}"
            if pending.key == API_VERSIONS:  # what is not offered is refused when it is asked for
                state.flag("response", item.ordinal, at, reason)
            else:
                # a real address may not leave, or the client would go past the proxy
                state.unread("response", item.ordinal, at, reason)
                self._withhold(item, f"{reason}; addresses in it can't be replaced", at)
            return
        except OSError as problem:
            self._withhold(item, str(problem), at)
            return
        if changed is not None:
            head = item.data[4:offset]
            item.data = _SIZE.pack(len(head) + len(changed)) + head + changed
            item.response_body = changed
            item.changed = ("versions" if pending.key == API_VERSIONS else "addresses",)

    def _withhold(self, item: Item, reason: str, at: int) -> None:
        assert item.pending is not None  # noqa: S101
        size = len(item.data) - 4
        self.state.withhold(item.pending, item.ordinal, at, size, reason, item.arrived)


def _told(pending: Pending) -> str:
    """A request whose answer may not pass, and why that can't be read."""
    if pending.opaque:
        return f"a request of which {UNREAD}"
    return f"{NAMES[pending.key]} v{pending.version}, which is not offered,"


def _body(frame: bytes, pending: Pending) -> tuple[int, Malformed | None]:
    """Where a response's body begins, behind the size, and why that is not known for sure.

    A raw token is all body.
    """
    if pending.opaque:
        return 0, None
    if not known(pending.key, pending.version):
        return 4, None
    try:
        return response_body(frame[4:], pending.key, pending.version), None
    except Malformed as problem:
        return 4, problem
