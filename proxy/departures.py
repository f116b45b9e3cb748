"""How whole frames leave: what the rules decided is done here, and the order of responses is kept.

A broker answers in the order in which it got the requests. If a rule changed that order, responses
wait here (`early`) until it is their turn in the order in which the client sent (`expected`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any

from captures.exchange import SASL_TOKEN, Pending
from captures.masking import UNSOLICITED
from proxy.actions import Finish, Left
from proxy.effects import Aside, HangUp, Lose, Shuffle, Wait
from proxy.outlet import Held, Item, Window
from proxy.rules import Decision
from proxy.state import State
from specs.frames import Direction


class Departures:
    """The ways out of one connection."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expected: deque[Pending] = deque()
        """Requests whose responses must come in this order; empty if no rule reorders requests."""
        self._early: dict[Pending, tuple[Item, list[Decision]]] = {}
        self._finished: set[Direction] = set()
        self.early = 0
        """Bytes of responses that wait for their turn."""

    def expect(self, pending: Pending) -> None:
        """A request has come (or, if its order need not be restored, has left)."""
        if self.state.plan.rules.reorders:
            self.expected.append(pending)

    def expect_all(self) -> None:
        """From now on requests may be reordered: those under way are expected as they were sent."""
        state, known = self.state, set(self.expected)
        queued = (item.pending for item in state.outlet["request"].queue if not item.unanswered)
        for pending in (*state.pairing.waiting, *queued):
            if pending is not None and pending not in known:
                self.expect(pending)

    def keep(self, kept: Collection[str]) -> None:
        """Other rules are gone: what they decided of responses that wait for their turn is off."""
        for _, decisions in self._early.values():
            decisions[:] = [decision for decision in decisions if decision.rule in kept]

    def must_wait(self, pending: Pending) -> bool:
        """Whether an earlier request's response must leave before this one's."""
        expected = self.expected
        return bool(expected) and expected[0] is not pending and pending in expected

    def dispose_in_turn(self, item: Item, decisions: list[Decision], now: int, at: int) -> None:
        """Let a response go its way, now or when it is its turn; those behind it follow."""
        pending = item.pending
        if pending is not None and self.must_wait(pending):
            self._early[pending] = (item, decisions)
            self.early += item.cost
            if item.ordinal >= 0:
                what = ["put back into the client's order"]
                comment = {"frame": item.ordinal, "left": "later", "what": what}
                self.state.cut("response", at, comment)
            return
        self.dispose("response", item, decisions, now, at)
        if pending is not None:
            self.turn(pending, now)

    def turn(self, pending: Pending, now: int) -> None:
        """A response has had its turn: those that waited behind it follow."""
        expected = self.expected
        if expected and expected[0] is pending:
            expected.popleft()
        elif pending in expected:
            expected.remove(pending)
        while expected and expected[0] in self._early:
            item, decisions = self._early.pop(expected.popleft())
            self.early -= item.cost
            item.late = True
            self.dispose("response", item, decisions, now, at=None)

    def dispose(
        self,
        direction: Direction,
        item: Item,
        decisions: list[Decision],
        now: int,
        at: int | None,
    ) -> None:
        """Let a whole frame go the way that the rules decided.

        `at` is where it ends in the present chunk; None if its arrival was noted before.
        """
        outlet = self.state.outlet[direction]
        chosen: Lose | Shuffle | Aside | None = None
        rule = ""
        hang_up: HangUp | None = None
        for decision in decisions:
            for effect in decision.effects:
                match effect:
                    case Wait():
                        item.at = max(item.at, item.arrived) + effect.ns
                    case HangUp():
                        hang_up = effect
                    case _ if chosen is None or isinstance(effect, Lose):
                        chosen, rule = effect, decision.rule
        note = ""
        if outlet.lost:
            note = f"{direction} lost behind a dropped one"
        elif isinstance(chosen, Lose):
            note = f"{direction} dropped by a rule"
        elif hang_up is not None and not hang_up.forward:
            note = f"{direction} not sent on: a rule closed the connection"
        waits = chosen is not None or item.at > now or bool(outlet.queue)
        left = "never" if note else "later" if waits else "changed" if item.changed else ""
        if at is not None and item.ordinal >= 0 and (decisions or left):
            self.state.cut(direction, at, _comment(item, decisions, left, note))
        if note:
            self._lost(direction, item, note)
            if isinstance(chosen, Lose) and not chosen.selective:
                for other in outlet.lose():
                    self._lost(direction, other, f"{direction} lost behind a dropped one")
            elif hang_up is not None and not outlet.lost:
                self.state.abort(note)
            return
        item.late = item.late or left == "later"
        item.hang_up = hang_up is not None
        if isinstance(chosen, Shuffle):
            outlet.gather(rule, Window(chosen.order, now + chosen.at_most), item)
        elif isinstance(chosen, Aside):
            held = Held(item, chosen, rule, now + chosen.at_most, chosen.passing or 0)
            outlet.stand(held)
            if chosen.until is not None:
                self.state.crossing.wait(self.state, held)
        else:
            outlet.append(item)

    def _lost(self, direction: Direction, item: Item, note: str) -> None:
        """Account for an exchange whose request or response will never leave."""
        if item.pending is None:
            return
        size = came = None
        if direction == "response":
            size, came = len(item.data) - 4, item.arrived
        body = item.response_body
        self.state.done(item.pending, size, body, came=came, rules=item.rules, note=note)

    def pump(self, direction: Direction, now: int) -> None:
        """Send what is due, unless a frame that passes in pieces is under way."""
        state = self.state
        outlet, inbound = state.outlet[direction], state.inbound[direction]
        if outlet.idle and not outlet.ending:
            return
        while not state.over:
            for held in outlet.expire(now):
                rule = state.plan.rules.rule(held.rule)
                rule.released += held.due
                rule.expired += not held.due
            item = None if inbound.passing else outlet.next(now)
            if item is None:
                break
            self._leave(direction, item, now)
        if outlet.ending and outlet.idle and direction not in self._finished and not state.over:
            self._finished.add(direction)
            state.actions.append(Finish(direction))

    def _leave(self, direction: Direction, item: Item, now: int) -> None:
        state, pending, message = self.state, item.pending, item.message
        if item.data:  # nothing leaves of a request that the proxy answers
            state.send(direction, item.data)
            if item.changed or item.late or item.ordinal < 0:
                comment = _comment(item, [], "", "")
                state.actions.append(Left(direction, item.data, comment, *_kind(item)))
            state.outlet[direction].passed()
        if pending is not None and direction == "request":
            pending.sent = now
            if item.unanswered:
                state.done(pending, note="no response (acks=0)")
            else:
                state.pairing.sent(pending)
                if pending not in self.expected:
                    self.expect(pending)
        elif pending is not None:
            came = item.arrived if item.ordinal >= 0 else None
            size, body = len(item.data) - 4, item.response_body
            state.done(pending, size, body, came=came, left=now, rules=item.rules)
        if message is not None and state.plan.watched(direction, message.key, message.version):
            state.crossing.passed(message)
        if item.hang_up:
            state.abort("a rule closed the connection")

    def ending(self, direction: Direction, now: int) -> None:
        """Nothing more will arrive in this direction: what can't come need not be waited for."""
        outlet = self.state.outlet[direction]
        outlet.ending = True
        for held in outlet.aside:
            if held.aside.until is None or held.aside.same == "connection":
                held.deadline = now
        for window in outlet.windows.values():
            window.deadline = now

    def abandon(self) -> int:
        """The connection is over: account for what never left; how many frames."""
        count = 0
        for direction, outlet in self.state.outlet.items():
            for item in outlet.abandon():
                self._lost(direction, item, f"{direction} not sent on: connection closed")
                count += 1
        for item, _ in self._early.values():
            self._lost("response", item, "response not sent on: connection closed")
            count += 1
        self._early.clear()
        self.early = 0
        return count


def _kind(item: Item) -> tuple[int, int]:
    """Key and version of what is in a frame, as `captures.masking` has them."""
    pending = item.pending
    if pending is None:
        return UNSOLICITED, -1
    return SASL_TOKEN if pending.opaque else pending.key, pending.version


def _comment(item: Item, decisions: list[Decision], left: str, note: str) -> dict[str, Any]:
    """What the capture says of a frame: its number, the rules, and how it left if not as it came."""
    comment: dict[str, Any] = {"frame": item.ordinal}
    rules = [decision.rule for decision in decisions] or list(item.rules)
    if rules:
        comment["rules"] = rules
    if decisions:
        comment["what"] = [text for decision in decisions for text in decision.text]
    if item.changed:
        comment["edits"] = list(item.changed)
    if left:
        comment["left"] = left
    if note:
        comment["note"] = note
    return comment
