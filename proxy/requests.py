"""Requests: read as far as needed, entered among those that wait, put to the rules."""

from __future__ import annotations

from typing import Final

from captures.exchange import SASL_TOKEN, Pending
from proxy.departures import Departures
from proxy.edits import NEWEST_API_VERSIONS
from proxy.effects import Aside, Lose, Shuffle
from proxy.outlet import Item
from proxy.plan import SASL, SASL_HANDSHAKE, known
from proxy.rules import Decision
from proxy.sasl import heard
from proxy.state import State
from specs import NAMES, api
from specs.frames import RequestHead, Short, request_head
from specs.headers import API_VERSIONS
from specs.malformed import Malformed

ANSWERED: Final = "answered by the proxy"


class Requests:
    """What one connection does with requests."""

    def __init__(self, state: State, departures: Departures) -> None:
        self.state = state
        self.departures = departures
        self.inbound = state.inbound["request"]
        self.met = False
        """Whether a request has been seen, so that the client id is known."""
        self.raw_tokens = False
        """Whether frames without headers may come: SaslHandshake v0 is followed by such tokens."""
        self.replies: set[Pending] = set()
        """Requests that the proxy answers itself."""

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """The first bytes of a request: whether it must be whole before it leaves.

        Raises Short if its header is not complete, Malformed if it can't be read.
        """
        state, inbound = self.state, self.inbound
        inbound.pending = None
        try:
            head = request_head(view, 4, have)
        except Short:
            if have < 4 + inbound.size:
                raise
            head = None
        except Malformed:
            if not self.raw_tokens:
                raise
            head = None
        if self.raw_tokens and (head is None or not known(head.key, head.version)):
            return self.headless(now, SASL_TOKEN)
        if head is None:
            raise Malformed("header", have - 4, "the header is cut off")
        inbound.head = head
        self._meet(head)
        if not known(head.key, head.version):
            name = NAMES.get(head.key, f"API key {head.key}")
            reason = f"{name} v{head.version} is not known here"
            state.flag("request", inbound.frames, at, reason)
        hidden = state.hide("request", head.key, head.version)
        if hidden or state.plan.must_be_whole("request", head.key, head.version):
            return True
        if state.outlet["request"].busy:
            return True
        if head.acks != 0:
            inbound.pending = self._pending(head, now)
            self._enter(inbound.pending)
        return False

    def headless(self, now: int, key: int, note: str = "") -> bool:
        """A request without a header, or none that can be read: its answer is paired by order alone.

        `key` is that of its API, as far as can be told, or SASL_TOKEN. No rule is about it, but it
        keeps its place: True if it can't leave yet.
        """
        inbound, client_id = self.inbound, self.state.client_id
        inbound.head = None
        inbound.pending = Pending(
            0, SASL_HANDSHAKE, 0, client_id, inbound.size, now, now, opaque=True, note=note
        )
        unknown = key not in NAMES  # it may be a token: GSSAPI of 0.9 begins without a handshake
        hidden = self.state.hide("request", SASL_TOKEN if unknown else key, -1)
        if hidden or key == SASL_TOKEN or self.state.outlet["request"].busy:
            return True
        self._enter(inbound.pending)
        return False

    def passed(self, frame: bytes | None, now: int) -> None:
        """A request that passed as it came is through; `frame` is its copy, if one was made."""
        head, pending = self.inbound.head, self.inbound.pending
        if head is None:
            return
        body = None if frame is None else frame[4 + head.body :]
        if pending is not None:
            pending.body = body
        else:
            pending = self._pending(head, now)
            pending.body = body
            self.state.done(pending, note="no response (acks=0)")

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """A request that was collected: put it to the rules."""
        state, head, pending = self.state, self.inbound.head, self.inbound.pending
        ordinal = self.inbound.frames - 1
        if head is None:
            assert pending is not None  # noqa: S101 - made by `headless`
            if not pending.note:  # a token, and not a header that can't be read
                pending.body = frame[4:]
                self._sasl(pending, ordinal, at)
            self.departures.expect(pending)
            item = Item(frame, ordinal, now, pending=pending)
            self.departures.dispose("request", item, [], now, at)
            return
        pending = self._pending(head, now)
        pending.body = frame[4 + head.body :]
        if head.key in SASL:
            self._sasl(pending, ordinal, at)
        if head.key == API_VERSIONS and head.version > NEWEST_API_VERSIONS:
            # it has its turn among the requests, but nothing of it leaves
            self.replies.add(pending)
            self.departures.expect(pending)
            state.cut("request", at, {"frame": ordinal, "left": "never", "note": ANSWERED})
            item = Item(b"", ordinal, now, pending=pending)
            self.departures.dispose("request", item, [], now, at=None)
            return
        rules = state.plan.rules
        if rules.needs_group:
            pending.group = _group(head.key, head.version, pending.body)
        message = state.message("request", pending, len(frame) - 4, pending.body)
        candidates = rules.candidates("request", head.key, head.version)
        decisions = rules.decide(candidates, message, state.counts) if candidates else []
        pending.rules = tuple(decision.rule for decision in decisions)
        item = Item(frame, ordinal, now, pending=pending, message=message)
        item.unanswered = head.acks == 0
        if not (item.unanswered or _is_lost(decisions)) and _restores(decisions):
            self.departures.expect(pending)
        self.departures.dispose("request", item, decisions, now, at)

    def _sasl(self, pending: Pending, ordinal: int, at: int) -> None:
        """A request of an authentication: the capture says who it is, since it can't show the token."""
        heard(self.state.sasl, pending)
        if pending.sasl:
            self.state.cut("request", at, {"frame": ordinal, "sasl": pending.sasl})

    def _meet(self, head: RequestHead) -> None:
        state = self.state
        if not self.met or state.client_id != head.client_id:
            state.client_id = head.client_id
            state.ordinal = state.crossing.ordinal(head.client_id, state.broker)
            self.met = True
        self.raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0
        state.plan.note("request", head.key, head.version)

    def _pending(self, head: RequestHead, now: int) -> Pending:
        size = self.inbound.size
        return Pending(head.correlation_id, head.key, head.version, head.client_id, size, now, now)

    def _enter(self, pending: Pending) -> None:
        self.state.pairing.sent(pending)
        self.departures.expect(pending)


def _is_lost(decisions: list[Decision]) -> bool:
    return any(isinstance(effect, Lose) for decision in decisions for effect in decision.effects)


def _restores(decisions: list[Decision]) -> bool:
    """Whether responses shall come in the client's order whatever is done to the requests."""
    return all(
        effect.restore
        for decision in decisions
        for effect in decision.effects
        if isinstance(effect, Aside | Shuffle)
    )


def _group(key: int, version: int, body: bytes) -> str | None:
    """The group that a request names."""
    if not known(key, version):
        return None
    try:
        group = api(key).request.codec(version).project("group_id")(body).get("group_id")
    except Malformed:
        return None
    return group if isinstance(group, str) else None
