"""One client's connection to one broker, without sockets: bytes and times in, actions out.

    connection.receive("request", data, now) -> actions
    connection.receive_eof("request", now)   -> actions
    connection.tick(now)                     -> actions     (at `connection.wake`, in ns)

Frames of which nobody wants more than the header pass as they come (`proxy.skim`). Those that a rule
may touch, or in which an address may stand, are collected whole, at most `Limits.frame` bytes of one
frame and `Limits.queued` bytes of those that wait; then reading pauses (`full`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Final

from captures.exchange import Pairing, Pending
from captures.outcome import outcome
from captures.tally import Tally
from proxy.actions import (
    NOTHING,
    PASS,
    Abort,
    Action,
    Actions,
    Cut,
    Done,
    Finish,
    Left,
    Say,
    Send,
)
from proxy.crossing import Crossing
from proxy.edits import NEWEST_API_VERSIONS, edit_response, refusal
from proxy.effects import Aside, HangUp, Lose, Shuffle, Wait
from proxy.inbound import Inbound, foreign
from proxy.message import Message
from proxy.outlet import Held, Item, Outlet, Window
from proxy.plan import SASL_HANDSHAKE, Plan, known
from proxy.rules import Counts, Decision
from proxy.skim import skim_requests, skim_responses
from proxy.totals import Totals
from specs import NAMES, api
from specs.addresses import Resolve
from specs.frames import Direction, RequestHead, Short, request_head, response_body
from specs.headers import API_VERSIONS
from specs.malformed import Malformed

MIB: Final = 1 << 20
HEAD: Final = 64 << 10
"""A request's header is read no further than this; a client id and its tags need far less."""

_SIZE = struct.Struct(">i")
_RESPONSE = struct.Struct(">ii")


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a connection's memory, in bytes (and messages)."""

    frame: int = 100 * MIB
    """The largest frame; Kafka's own default for socket.request.max.bytes is the same."""
    queued: int = 16 * MIB
    """Frames that wait, in each direction, before reading pauses."""
    waiting: int = 10_000
    """Requests without a response before reading pauses."""
    copy: int = 4 * MIB
    """The largest frame that is copied for the log as it passes; of larger ones it shows sizes."""


class Connection:
    """The protocol logic between one client and one broker."""

    def __init__(
        self,
        number: int,
        *,
        client: str,
        broker: int | None,
        plan: Plan,
        crossing: Crossing,
        tally: Tally,
        totals: Totals,
        resolve: Resolve,
        observed: bool = False,
        limits: Limits = Limits(),
    ) -> None:
        self.number = number
        self.client = client
        self.broker = broker
        self.plan = plan
        self.crossing = crossing
        self.tally = tally
        self.totals = totals
        self.resolve = resolve
        self.observed = observed
        self.limits = limits
        self.client_id: str | None = None
        self.ordinal = 0
        self.pairing = Pairing(limit=limits.waiting)
        self.requests = Inbound()
        self.responses = Inbound()
        self.outlet: dict[str, Outlet] = {"request": Outlet(), "response": Outlet()}
        self.wake: int | None = None
        self.over = False
        self._counts = Counts()
        self._met = False
        self._raw_tokens = False
        self._expected: list[Pending] = []
        self._early: dict[int, tuple[Item, list[Decision]]] = {}
        self._replies: dict[int, bytes] = {}
        self._skimming: dict[str, bool] = {"request": False, "response": False}
        self._actions: list[Action] = []
        self._open: tuple[int, int, int] | None = None
        self._finished: set[str] = set()

    # what whoever moves the bytes calls

    def receive(self, direction: Direction, data: memoryview, now: int) -> Actions:
        """A chunk has arrived. `PASS` if it may be sent on as it is; slices of `data` may be in the
        actions, so they are carried out before its buffer is used again."""
        start = 0
        if self._skimming[direction]:
            skim = skim_requests if direction == "request" else skim_responses
            start = skim(self, data, now)
            if start == len(data):
                return PASS
        elif self.over:
            return NOTHING
        self._begin_actions()
        if start:
            self._pass(direction, data, 0, start)
        self._feed(direction, data, start, now)
        return self._settle(now)

    def receive_eof(self, direction: Direction, now: int) -> Actions:
        """The sender of this direction will send no more."""
        self._begin_actions()
        inbound, outlet = self._inbound(direction), self.outlet[direction]
        rest = bytes(inbound.start) or (bytes(inbound.frame) if inbound.need else b"")
        if rest and not outlet.lost:
            outlet.append(Item(rest, inbound.frames, now))
        inbound.start.clear()
        inbound.frame.clear()
        inbound.need = inbound.passing = 0
        outlet.ending = True
        for held in outlet.aside:
            # nothing more passes on this connection, so nothing that it waits for can come
            if held.aside.until is None or held.aside.same == "connection":
                held.due = True
        for window in outlet.windows.values():
            window.deadline = now
        return self._settle(now)

    def tick(self, now: int) -> Actions:
        """Time has passed, or a message that a frame waited for has passed somewhere else."""
        if self.over:
            return NOTHING
        self._begin_actions()
        return self._settle(now)

    def closed(self, now: int) -> Actions:
        """Both sides are closed: account for what was under way."""
        self.over = True
        self._begin_actions()
        self.crossing.forget(self)
        stuck = sum(len(outlet.abandon()) for outlet in self.outlet.values()) + len(self._early)
        if stuck:
            self._actions.append(Say(f"{self.name}: closed with {stuck} frames not sent on"))
        if self.observed:
            for pending in self.pairing.unanswered():
                self._done(pending, note="no response: connection closed")
        return self._taken()

    def full(self, direction: Direction) -> bool:
        """Whether enough waits already: read no more from the sender of this direction."""
        if self.outlet[direction].bytes > self.limits.queued:
            return True
        return direction == "request" and len(self.pairing.waiting) >= self.limits.waiting

    @property
    def idle(self) -> bool:
        """Whether no request waits for its response and no frame waits to leave."""
        return not self.pairing.waiting and all(outlet.idle for outlet in self.outlet.values())

    @property
    def name(self) -> str:
        """How lines for a person name the connection."""
        client = f"{self.client_id}@{self.client}" if self.client_id else self.client
        return f"connection {self.number} ({client})"

    # the stream of frames

    def _inbound(self, direction: str) -> Inbound:
        return self.requests if direction == "request" else self.responses

    def _feed(self, direction: Direction, data: memoryview, at: int, now: int) -> None:
        inbound = self._inbound(direction)
        end = len(data)
        while at < end and not self.over:
            if inbound.passing:
                taken = min(inbound.passing, end - at)
                self._pass(direction, data, at, at + taken)
                inbound.passing -= taken
                at += taken
                if not inbound.passing:
                    self._passed(direction, now, at)
            elif inbound.need:
                taken = min(inbound.need, end - at)
                inbound.frame += data[at : at + taken]
                inbound.need -= taken
                at += taken
                if not inbound.need:
                    self._whole(direction, now, at)
            else:
                at = self._begin(direction, data, at, now)

    def _begin(self, direction: Direction, data: memoryview, at: int, now: int) -> int:
        """The first bytes of a frame (perhaps with some from before): decide how it will travel."""
        inbound = self._inbound(direction)
        before = len(inbound.start)
        view: memoryview | bytes = data[at:]
        if before:
            inbound.start += data[at : at + HEAD]
            view = bytes(inbound.start)
        if len(view) < 4:
            inbound.start = bytearray(view)
            return at + len(view) - before
        size = _SIZE.unpack_from(view)[0]
        if not 0 <= size <= self.limits.frame:
            self._refuse(direction, bytes(view[:4]), size)
            return at
        inbound.size = size
        have = min(len(view), 4 + size)
        try:
            if direction == "request":
                collect = self._begin_request(view, have, now)
            else:
                collect = self._begin_response(view, have, now)
        except Short:
            if have < HEAD:
                inbound.start = bytearray(view[:have])
                return at + have - before
            collect = self._unreadable(direction, view, "a header of over 64 KiB")
        except Malformed as problem:
            collect = self._unreadable(direction, view, str(problem))
        inbound.start.clear()
        inbound.frames += 1
        inbound.need = inbound.passing = 0
        at += have - before
        missing = 4 + size - have
        if collect:
            inbound.frame = bytearray(view[:have])
            inbound.need = missing
            if not missing:
                self._whole(direction, now, at)
            return at
        inbound.copy = bytearray() if self.observed and size <= self.limits.copy else None
        inbound.passing = missing
        if before:
            self._send(direction, bytes(view[:have]))
            if inbound.copy is not None:
                inbound.copy += view[:have]
        else:
            self._pass(direction, data, at - have, at)
        if not missing:
            self._passed(direction, now, at)
        return at

    def _refuse(self, direction: Direction, first: bytes, size: int) -> None:
        peer = f"client {self.client}" if direction == "request" else f"broker {self.broker_name}"
        other = foreign(first)
        if other:
            what = f"{peer} speaks {other}, not Kafka in plain text"
        elif size < 0:
            what = f"{peer} sent a frame of negative size {size}"
        else:
            what = f"{peer} sent a frame of {size} bytes; the most is {self.limits.frame}"
        self._actions.append(Say(f"{self.name}: {what}; connection closed"))
        self._abort(what)

    @property
    def broker_name(self) -> str:
        """How lines for a person name the broker."""
        return "of the bootstrap address" if self.broker is None else str(self.broker)

    def _unreadable(self, direction: Direction, view: memoryview | bytes, reason: str) -> bool:
        """A frame whose header can't be read passes; its answer is paired by order alone."""
        inbound = self._inbound(direction)
        self._flag(direction, reason)
        inbound.head = inbound.pending = None
        if direction == "request":
            inbound.pending = Pending(0, -1, 0, self.client_id, inbound.size, 0, 0, opaque=True)
            self.pairing.sent(inbound.pending)
        return False

    def _flag(self, direction: Direction, reason: str) -> None:
        self.totals.undecoded += 1
        ordinal = self._inbound(direction).frames
        self._actions.append(Cut(direction, 0, {"frame": ordinal, "undecodable": reason}))
        if self.totals.undecoded <= 10:
            self._actions.append(Say(f"{self.name}: {direction} passed on undecoded: {reason}"))

    # requests

    def _begin_request(self, view: memoryview | bytes, have: int, now: int) -> bool:
        inbound = self.requests
        try:
            head = request_head(view, 4, have)
        except Short:
            if have < 4 + inbound.size:
                raise
            head = None
        if self._raw_tokens and (head is None or not known(head.key, head.version)):
            # SaslHandshake v0 is followed by tokens without any header
            inbound.head = None
            inbound.pending = self._enter(
                Pending(0, SASL_HANDSHAKE, 0, self.client_id, inbound.size, now, now, opaque=True)
            )
            return False
        if head is None:
            raise Malformed("header", have - 4, "the header is cut off")
        self._raw_tokens = False
        inbound.head = head
        self._meet(head)
        if not known(head.key, head.version):
            name = NAMES.get(head.key, f"API key {head.key}")
            self._flag("request", f"{name} v{head.version} is not known here")
        self.plan.note("request", head.key, head.version)
        if self.plan.must_be_whole("request", head.key, head.version):
            return True
        if not self.outlet["request"].idle:
            return True
        inbound.pending = None
        if head.acks != 0:
            inbound.pending = self._enter(self._pending(head, now))
        return False

    def _meet(self, head: RequestHead) -> None:
        if not self._met or self.client_id != head.client_id:
            self.client_id = head.client_id
            self.ordinal = self.crossing.ordinal(head.client_id, self.broker)
            self._met = True
        self._raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0

    def _pending(self, head: RequestHead, now: int) -> Pending:
        size = self.requests.size
        return Pending(head.correlation_id, head.key, head.version, head.client_id, size, now, now)

    def _enter(self, pending: Pending) -> Pending:
        self.pairing.sent(pending)
        if self.plan.rules.reorders:
            self._expected.append(pending)
        return pending

    def _message(self, direction: Direction, pending: Pending, size: int, body: bytes) -> Message:
        return Message(
            direction,
            pending.key,
            pending.version,
            pending.client_id,
            self.broker,
            self.number,
            self.ordinal,
            pending.group,
            size,
            body,
        )

    def _whole_request(self, frame: bytes, now: int, at: int) -> None:
        head = self.requests.head
        assert head is not None  # noqa: S101 - only frames with a header are collected
        body = frame[4 + head.body :]
        pending = self._pending(head, now)
        pending.body = body
        ordinal = self.requests.frames - 1
        if head.key == API_VERSIONS and head.version > NEWEST_API_VERSIONS:
            self._replies[id(pending)] = refusal()
            self._enter(pending)
            pending.rules = ("proxy: answered",)
            comment = {"frame": ordinal, "left": "never", "edits": ["answered by the proxy"]}
            self._actions.append(Cut("request", at, comment))
            return
        message = self._message("request", pending, len(frame) - 4, body)
        if self.plan.rules.needs_group:
            message.group = pending.group = _group(head.key, head.version, body)
        rules = self.plan.rules
        candidates = rules.candidates("request", head.key, head.version)
        decisions = rules.decide(candidates, message, self._counts) if candidates else []
        pending.rules = tuple(decision.rule for decision in decisions)
        item = Item(frame, ordinal, now, pending=pending, message=message, rules=pending.rules)
        item.unanswered = head.acks == 0
        lost = any(isinstance(e, Lose) for decision in decisions for e in decision.effects)
        if rules.reorders and head.acks != 0 and not lost and _restores(decisions):
            self._expected.append(pending)
        self._dispose("request", item, decisions, now, at)

    # responses

    def _begin_response(self, view: memoryview | bytes, have: int, now: int) -> bool:
        inbound = self.responses
        waiting = self.pairing.waiting
        if have < 8 and inbound.size >= 4:
            raise Short
        opaque = bool(waiting) and waiting[0].opaque
        if inbound.size < 4 and not opaque:
            raise Malformed("header", 0, f"a response of {inbound.size} bytes")
        correlation_id = None if opaque else _RESPONSE.unpack_from(view)[1]
        pending, in_order = self.pairing.answer(correlation_id)
        inbound.pending = pending
        if pending is None:
            self._flag("response", f"nobody waits for correlation id {correlation_id}")
            return False
        if not in_order:
            self._flag("response", f"correlation id {correlation_id} came out of turn")
        if pending.opaque:
            return self._overtakes(pending)
        self.plan.note("response", pending.key, pending.version)
        if not known(pending.key, pending.version):
            return self._overtakes(pending)
        return (
            self.plan.must_be_whole("response", pending.key, pending.version)
            or not self.outlet["response"].idle
            or self._overtakes(pending)
        )

    def _overtakes(self, pending: Pending) -> bool:
        """Whether an earlier request's response must leave first; else its turn is taken."""
        if not self._expected or pending not in self._expected:
            return False
        if self._expected[0] is not pending:
            return True
        if not self._must_wait_whole(pending):
            self._expected.pop(0)
        return False

    def _must_wait_whole(self, pending: Pending) -> bool:
        return (
            self.plan.must_be_whole("response", pending.key, pending.version)
            or not self.outlet["response"].idle
        )

    def _whole_response(self, frame: bytes, now: int, at: int) -> None:
        pending = self.responses.pending
        assert pending is not None  # noqa: S101 - only awaited frames are collected
        self._deliver(frame, pending, self.responses.frames - 1, now, at)

    def _deliver(self, frame: bytes, pending: Pending, ordinal: int, now: int, at: int) -> None:
        """A whole response, from the broker or (ordinal -1) our own: edit, ask the rules, dispose."""
        item = Item(frame, ordinal, now, pending=pending)
        decisions: list[Decision] = []
        if not pending.opaque and known(pending.key, min(pending.version, _newest(pending.key))):
            offset = 4 + _body_offset(frame, pending)
            body = frame[offset:]
            if ordinal >= 0:
                body = self._edit(item, offset, body)
            item.response_body = body
            item.message = self._message("response", pending, len(item.data) - 4, body)
            rules = self.plan.rules
            candidates = rules.candidates("response", pending.key, pending.version)
            if candidates:
                decisions = rules.decide(candidates, item.message, self._counts)
                item.rules = tuple(decision.rule for decision in decisions)
        if self._expected and pending in self._expected and self._expected[0] is not pending:
            self._early[id(pending)] = (item, decisions)
            item.late = True
            comment = {"frame": ordinal, "left": "later", "what": ["response put back in order"]}
            self._actions.append(Cut("response", at, comment))
            return
        self._dispose("response", item, decisions, now, at)
        self._turn(pending, now, at)

    def _turn(self, pending: Pending, now: int, at: int) -> None:
        """A response has had its turn: those that waited for it follow."""
        if pending in self._expected:
            self._expected.remove(pending)
        while self._expected and id(self._expected[0]) in self._early:
            item, decisions = self._early.pop(id(self._expected.pop(0)))
            self._dispose("response", item, decisions, now, at, again=True)

    def _edit(self, item: Item, offset: int, body: bytes) -> bytes:
        pending = item.pending
        assert pending is not None  # noqa: S101
        try:
            changed = edit_response(pending.key, pending.version, body, self.resolve)
        except Malformed as problem:
            self._flag("response", f"{NAMES[pending.key]} v{pending.version}: {problem}")
            return body
        except OSError as problem:
            # the real address may not leave, or the client would go past the proxy
            self._actions.append(Say(f"{self.name}: {problem}; connection closed"))
            self._abort(str(problem))
            return body
        if changed is None:
            return body
        head = item.data[4:offset]
        item.data = _SIZE.pack(len(head) + len(changed)) + head + changed
        item.changed = ("versions" if pending.key == API_VERSIONS else "addresses",)
        return changed

    def _own_replies(self, now: int) -> None:
        """Requests that the proxy answers itself get their reply when their turn has come."""
        waiting = self.pairing.waiting
        while waiting and id(waiting[0]) in self._replies:
            pending = waiting.popleft()
            body = self._replies.pop(id(pending))
            frame = _RESPONSE.pack(4 + len(body), pending.correlation_id) + body
            self._deliver(frame, pending, -1, now, 0)

    # leaving

    def _pass(self, direction: Direction, data: memoryview, start: int, end: int) -> None:
        """Send a piece of the chunk on; pieces that touch become one."""
        inbound = self._inbound(direction)
        if inbound.copy is not None:
            inbound.copy += data[start:end]
        if self.outlet[direction].lost:
            return
        if self._open is not None and self._open[2] == start:
            index, first, _ = self._open
            self._actions[index] = Send(direction, data[first:end])
            self._open = (index, first, end)
        else:
            self._open = (len(self._actions), start, end)
            self._actions.append(Send(direction, data[start:end]))

    def _send(self, direction: Direction, data: bytes) -> None:
        self._open = None
        self._actions.append(Send(direction, data))

    def _passed(self, direction: Direction, now: int, at: int) -> None:
        """A frame that passed as it came is through."""
        inbound = self._inbound(direction)
        pending, copy = inbound.pending, inbound.copy
        inbound.copy = None
        body = None if copy is None else bytes(copy)
        if direction == "request":
            head = inbound.head
            if pending is not None:
                if body is not None and head is not None:
                    pending.body = body[4 + head.body :]
            elif head is not None:
                self._unanswered(self._pending(head, now), head, body)
        elif pending is not None:
            self.tally.note(pending.key, now - pending.arrived)
            if self.observed:
                if body is not None:
                    body = body[4 + _body_offset(body, pending) :]
                self._done(pending, inbound.size, body, came=now, left=now)
        self._pump(direction, now)

    def _unanswered(self, pending: Pending, head: RequestHead, frame: bytes | None) -> None:
        pending.body = None if frame is None else frame[4 + head.body :]
        self._no_response(pending)

    def _no_response(self, pending: Pending) -> None:
        self.tally.note(pending.key, None)
        if self.observed:
            self._done(pending, note="no response (acks=0)")

    def _whole(self, direction: Direction, now: int, at: int) -> None:
        inbound = self._inbound(direction)
        frame = bytes(inbound.frame)
        inbound.frame = bytearray()
        if direction == "request":
            self._whole_request(frame, now, at)
        else:
            self._whole_response(frame, now, at)
        self._pump(direction, now)

    def _dispose(
        self,
        direction: Direction,
        item: Item,
        decisions: list[Decision],
        now: int,
        at: int,
        again: bool = False,
    ) -> None:
        """Let a whole frame go the way that the rules decided."""
        outlet = self.outlet[direction]
        if outlet.lost:
            return
        fate = "later" if outlet.queue else ""
        chosen: Lose | Shuffle | Aside | None = None
        rule = ""
        hang_up: HangUp | None = None
        for decision in decisions:
            for effect in decision.effects:
                if isinstance(effect, Wait):
                    item.at = max(item.at, item.arrived) + effect.ns
                elif isinstance(effect, HangUp):
                    hang_up = effect
                elif chosen is None or isinstance(effect, Lose):
                    chosen, rule = effect, decision.rule
        if isinstance(chosen, Lose) or (hang_up and not hang_up.forward):
            fate = "never"
        elif chosen is not None or item.at > now:
            fate = "later"
        if item.changed and not fate:
            fate = "changed"
        if not again and item.ordinal >= 0 and (decisions or fate):
            comment: dict[str, Any] = {"frame": item.ordinal}
            if decisions:
                comment["rules"] = [decision.rule for decision in decisions]
                comment["what"] = [text for decision in decisions for text in decision.text]
            if fate:
                comment["left"] = fate
            self._actions.append(Cut(direction, at, comment))
        if isinstance(chosen, Lose):
            self._lose(direction, item, chosen, now)
        elif hang_up and not hang_up.forward:
            self._account(direction, item, now, "connection closed by a rule")
            self._abort(f"rule {decisions[-1].rule!r} closed the connection")
        else:
            item.late = fate == "later" or item.late
            item.hang_up = hang_up is not None
            if isinstance(chosen, Shuffle):
                outlet.gather(rule, Window(chosen.order, now + chosen.at_most), item)
            elif isinstance(chosen, Aside):
                held = Held(item, chosen, now + chosen.at_most, chosen.passing or 0)
                outlet.stand(held)
                if chosen.until is not None:
                    self.crossing.wait(self, held)
            else:
                outlet.append(item)

    def _lose(self, direction: Direction, item: Item, lose: Lose, now: int) -> None:
        self._account(direction, item, now, "dropped by a rule")
        if not lose.selective:
            outlet = self.outlet[direction]
            outlet.lost = True
            outlet.abandon()

    def _account(self, direction: Direction, item: Item, now: int, what: str) -> None:
        """Report an exchange whose request or response will never leave."""
        pending = item.pending
        if pending is None or not self.observed:
            return
        size = came = None
        if direction == "response":
            size, came = len(item.data) - 4, item.arrived
        note = f"{direction} {what}"
        self._done(pending, size, item.response_body, came=came, rules=item.rules, note=note)

    def _pump(self, direction: Direction, now: int) -> None:
        """Send what is due, unless a frame that passes in pieces is under way."""
        outlet, inbound = self.outlet[direction], self._inbound(direction)
        if outlet.idle and not outlet.ending:
            return
        while not self.over:
            outlet.expire(now)
            item = None if inbound.passing else outlet.next(now)
            if item is None:
                break
            self._leave(direction, item, now)
        if outlet.ending and outlet.idle and direction not in self._finished and not self.over:
            self._finished.add(direction)
            self._open = None
            self._actions.append(Finish(direction))

    def _leave(self, direction: Direction, item: Item, now: int) -> None:
        outlet, pending = self.outlet[direction], item.pending
        self._send(direction, item.data)
        if item.changed or item.late or item.ordinal < 0:
            comment: dict[str, Any] = {"frame": item.ordinal}
            if item.changed:
                comment["edits"] = list(item.changed)
            if item.rules:
                comment["rules"] = list(item.rules)
            self._actions.append(Left(direction, item.data, comment))
        if pending is not None and direction == "request":
            pending.sent = now
            if item.unanswered:
                self._no_response(pending)
            else:
                self.pairing.sent(pending)
                if self.plan.rules.reorders and pending not in self._expected:
                    self._expected.append(pending)
        elif pending is not None:
            self.tally.note(pending.key, now - pending.arrived)
            if self.observed:
                size, body = len(item.data) - 4, item.response_body
                self._done(pending, size, body, came=item.arrived, left=now, rules=item.rules)
        message = item.message
        if message is not None and self.plan.watched(direction, message.key, message.version):
            self.crossing.passed(message)
        outlet.passed()
        if item.hang_up:
            self._abort(f"a rule closed the connection: {', '.join(item.rules)}")

    def _abort(self, reason: str) -> None:
        self.over = True
        self._open = None
        self._actions.append(Abort(reason))

    def _done(
        self,
        pending: Pending,
        response_size: int | None = None,
        response_body: bytes | None = None,
        *,
        came: int | None = None,
        left: int | None = None,
        rules: tuple[str, ...] = (),
        note: str = "",
    ) -> None:
        self._actions.append(
            Done(
                outcome(
                    pending,
                    connection=self.number,
                    client_address=self.client,
                    broker=self.broker,
                    received=came,
                    answered=left,
                    response_size=response_size,
                    response_body=response_body,
                    rules=rules,
                    note=note,
                )
            )
        )

    # around every call

    def _begin_actions(self) -> None:
        self._actions = []
        self._open = None

    def _taken(self) -> Actions:
        actions, self._actions = self._actions, []
        return actions

    def _settle(self, now: int) -> Actions:
        self._own_replies(now)
        self._pump("request", now)
        self._pump("response", now)
        times = [outlet.wake() for outlet in self.outlet.values() if not outlet.idle]
        self.wake = min((time for time in times if time is not None), default=None)
        free = self._met and not (self.observed or self.over or self.plan.rules.reorders)
        for direction in ("request", "response"):
            outlet, inbound = self.outlet[direction], self._inbound(direction)
            self._skimming[direction] = (
                free
                and outlet.idle
                and not (outlet.lost or outlet.ending)
                and not (inbound.start or inbound.need or self._replies or self._raw_tokens)
            )
        return self._taken()


def _newest(key: int) -> int:
    return api(key).versions[1] if key in NAMES else 0


def _body_offset(frame: bytes, pending: Pending) -> int:
    """Where a response's body begins, behind the size; 0 for a raw token."""
    if pending.opaque or not known(pending.key, pending.version):
        return 0 if pending.opaque else 4
    return response_body(frame[4:], pending.key, pending.version)


def _restores(decisions: list[Decision]) -> bool:
    """Whether the responses shall come in the client's order whatever the rules do to the requests."""
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
        values = api(key).request.codec(version).project("group_id")(body)
    except Malformed:
        return None
    group = values.get("group_id")
    return group if isinstance(group, str) else None
