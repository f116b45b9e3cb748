"""Connections on which a draft is spoken: every frame is collected, told what it is, put to the rules.

It takes the place of `barnabas.proxy.connection.requests` and `barnabas.proxy.connection.responses` on such a
connection. A way is a direction of bytes; whether a frame in it is a request or an answer,
`barnabas.captures.kafka.pairing.draft_pairing` says: in central coordination what the client has connected
to asks, too, and rules see that as a request.
"""

from __future__ import annotations

from barnabas.captures.kafka.pairing.draft_pairing import Answer, Asked, DraftPairing
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.egress import Departures
from barnabas.proxy.connection.send_queue import Item
from barnabas.proxy.connection.state import State
from barnabas.proxy.effects import HangUp, Lose
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.addresses import patch
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed


class Way:
    """What a connection does with the frames of one direction; both share one talk."""

    met = False
    """What the careful path of a connection asks of requests: here nothing is skimmed, ..."""
    several = False
    raw_tokens = False
    refused = ""
    """... nothing is refused for its version, ..."""

    def __init__(
        self, state: State, departures: Departures, direction: Direction, talk: DraftPairing
    ):
        self.state = state
        self.departures = departures
        self.direction = direction
        self.talk = talk
        self.replies: dict[Pending, bytes] = {}
        """... and nothing is answered by the proxy."""

    def begin(self, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        """The first bytes of a frame: it must be whole before it leaves."""
        self.state.inbound[self.direction].pending = None
        return True

    def headless(self, now: int, key: int, note: str = "") -> bool:
        """A frame whose header is too long to be one: it is read like any other."""
        return True

    def passed(self, frame: bytes | None, now: int) -> None:
        """Nothing passes unread."""

    def own_replies(self, now: int) -> None:
        """There are none."""

    def whole(self, frame: bytes, now: int, at: int) -> None:
        """A frame is complete. What can't be read passes as it came."""
        ordinal = self.state.inbound[self.direction].frames - 1
        try:
            found = self.talk.frame(self.direction, frame[4:])
        except (Malformed, LookupError) as problem:
            self.state.flag(self.direction, ordinal, at, self.state.why(problem))
            self.departures.dispose(self.direction, Item(frame, ordinal, now), [], now, at)
            return
        if self.state.client_id != self.talk.client:
            self.state.client_id = self.talk.client
            self.state.ordinal = self.state.crossing.ordinal(self.talk.client, self.state.broker)
            self.state.look_again()
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
        item = Item(frame, ordinal, now)
        decisions = self._decided("request", item, pending, asked.body)
        pending.rules = tuple(decision.rule for decision in decisions)
        self.departures.dispose(self.direction, item, decisions, now, at)
        if _is_lost(decisions):
            self.talk.forget(asked)
            self.state.done(pending, note="request not sent on: by a rule")
        elif not self.state.over:
            self.state.pairing.sent(pending)

    def _answered(self, answer: Answer, frame: bytes, ordinal: int, now: int, at: int) -> None:
        pending: Pending = answer.asked.reason
        if pending in self.state.pairing.waiting:
            self.state.pairing.waiting.remove(pending)
        self.state.pairing.came(pending, now)
        item = Item(frame, ordinal, now)
        body = self._addressed(item, answer)
        if isinstance(body, str):
            self.state.withhold(pending, ordinal, at, len(frame) - 4, body, now)
            return
        decisions = self._decided("response", item, pending, body)
        rules = tuple(decision.rule for decision in decisions)
        self.departures.dispose(self.direction, item, decisions, now, at)
        lost = _is_lost(decisions)
        pending.note = answer.error
        note = "response not sent on: by a rule" if lost else ""
        left = None if lost else max(now, item.at)
        size = len(frame) - 4
        self.state.done(pending, size, body, came=now, left=left, rules=rules, note=note)

    def _addressed(self, item: Item, answer: Answer) -> bytes | str:
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
        head = item.data[4 : len(item.data) - len(body)]
        item.data = (len(head) + len(changed)).to_bytes(4) + head + changed
        item.changed = ("addresses",)
        return changed

    def _decided(
        self, role: Direction, item: Item, pending: Pending, body: bytes
    ) -> list[Decision]:
        """What the rules want; the item becomes what they made of it."""
        state = self.state
        head = item.data[4 : len(item.data) - len(body)]
        message: Message = state.message(
            role, pending, len(item.data) - 4, body, head=head, arrived=item.arrived
        )
        item.message = message
        if state.over:
            return []
        candidates = state.candidates.of(role, pending.key, pending.version, pending.client_id)
        decisions = state.decide(candidates, message)
        item.rules = tuple(decision.rule for decision in decisions)
        if message.changed:
            item.data, item.changed = message.frame, (*item.changed, *message.changed)
        return decisions


def _is_lost(decisions: list[Decision]) -> bool:
    """Whether a frame does not get to the other side."""
    return any(
        isinstance(effect, Lose) or (isinstance(effect, HangUp) and not effect.forward)
        for decision in decisions
        for effect in decision.effects
    )
