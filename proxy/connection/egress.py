"""How whole frames leave: what the rules decided is done here, and the order of responses is kept.

A broker answers in the order in which it got the requests. If a rule changed that order, responses
wait here (`early`) until it is their turn in the order in which the client sent (`expected`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from barnabas.captures.kafka.pairing.conversation import CUT_OFF
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.writing.masking import UNSOLICITED
from barnabas.proxy.connection.actions import Finish, Left
from barnabas.proxy.connection.send_queue import Held, Item, Window
from barnabas.proxy.connection.state import State
from barnabas.proxy.effects import Aside, Insert, Lose, Pieces, Shuffle, Wait
from barnabas.proxy.rules.merged_effects import verdict
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction, request_head

UNANSWERED: Final = "no response (acks=0)"


class Departures:
    """The ways out of one connection."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.expected: deque[Pending] = deque()
        """Requests whose responses must come in this order."""
        self.reordering = False
        """Whether a request has stepped aside, and not all that are expected have been answered."""
        self._early: dict[Pending, tuple[Item, list[Decision]]] = {}
        self._finished: set[Direction] = set()
        self.marked: dict[Pending, str] = {}
        """Requests whose response is taken out: "" if nobody asked, else the rule that loses it."""
        self.early = 0
        """Bytes of responses that wait for their turn."""

    def expect(self, pending: Pending) -> None:
        """A request has come (or, if its order need not be restored, has left)."""
        if self.reordering:
            self.expected.append(pending)

    def expect_all(self) -> None:
        """A request is about to step aside: those under way are expected as they were sent."""
        self.reordering = True
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
                comment = _comment(item, decisions, "later", "")
                comment.setdefault("what", []).append("put back into the client's order")
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
        state, outlet = self.state, self.state.outlet[direction]
        found = verdict(decisions)
        for rule, effect in found.times:
            if isinstance(effect, Wait):
                item.at = max(item.at, item.arrived) + effect.ns
            else:
                item.at = state.pace(rule, effect, max(item.at, now))
        for stall in found.stalls:
            state.stalled[stall.direction] = now + stall.ns
        for partition in found.partitions:
            state.crossing.isolate(partition, now)
        if found.silence is not None:
            state.fall_silent(now + found.silence.at_most)
        if found.reply_lost_by and item.pending is not None:
            self.marked[item.pending] = found.reply_lost_by
        item.copies, item.pieces, item.half_close = found.copies, found.pieces, found.half_close
        chosen, hang_up, keep = found.chosen, found.hang_up, found.keep
        apart = self.state.crossing.isolated(self.state.client_id, self.state.broker, now)
        item.at = max(item.at, apart.get(direction, 0))
        note = ""
        if self.state.silent:
            note = f"{direction} lost in a black hole"
        elif outlet.lost:
            note = f"{direction} lost behind a dropped one"
        elif isinstance(chosen, Lose):
            note = f"{direction} dropped by a rule"
        elif hang_up is not None and not hang_up.forward:
            note = f"{direction} not sent on: {CUT_OFF}"
        if note:
            keep = None
        elif keep is not None:
            note = f"{direction} truncated by a rule"
        steps = (chosen, found.gather, item.pieces)
        waits = any(step is not None for step in steps) or item.at > now or bool(outlet.queue)
        left = "never" if note else "later" if waits else "changed" if item.changed else ""
        if at is not None and item.ordinal >= 0 and (decisions or left):
            self.state.cut(direction, at, _comment(item, decisions, left, note))
        if keep is not None:
            # the exchange is over, and what is left of the message still leaves
            self._lost(direction, item, note)
            item.told = True
            item.data, item.changed = item.data[:keep], (*item.changed, "truncated")
        elif note:
            self._lost(direction, item, note)
            if isinstance(chosen, Lose) and not chosen.selective:
                for other in outlet.lose():
                    self._lost(direction, other, f"{direction} lost behind a dropped one")
            elif hang_up is not None and not outlet.lost:
                self.state.abort(note, reset=hang_up.reset)
            return
        item.late = item.late or left == "later"
        item.hang_up = hang_up
        if isinstance(chosen, Shuffle) and chosen.scope:
            held = Held(item, Aside(chosen.at_most), found.by, now + chosen.at_most)
            outlet.stand(held)
            state.crossing.windows.gather(direction, chosen, state, held, now)
        elif isinstance(chosen, Shuffle):
            outlet.gather(found.by, Window(chosen.order, now + chosen.at_most), item)
        elif isinstance(chosen, Aside):
            held = Held(item, chosen, found.by, now + chosen.at_most, chosen.passing or 0)
            outlet.stand(held)
            if chosen.until is not None:
                self.state.crossing.wait(self.state, held)
        elif found.gather is not None:
            outlet.batch(found.gathered_by, found.gather, item, now)
        else:
            outlet.append(item)
        for insert in found.inserts:
            self._insert(insert, item, now)

    def _insert(self, insert: Insert, cause: Item, now: int) -> None:
        """Let a frame leave that nobody sent."""
        item = Item(insert.frame, -1, now, changed=("injected",))
        if insert.direction == "request":
            item.message = cause.message
            head = request_head(insert.frame, 4, len(insert.frame))
            item.pending = Pending(
                head.correlation_id, head.key, head.version, head.client_id, 0, now, now
            )
            item.unanswered = head.acks == 0
            self.marked[item.pending] = ""
        item.message = None
        self.state.outlet[insert.direction].append(item)

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
        state.crossing.windows.expire(now)
        while not state.over:
            for held in outlet.expire(now):
                rule = state.plan.rules.rule(held.rule)
                met = held.due or held.aside.timed
                rule.released += met
                rule.expired += not met
            item = None if inbound.passing else outlet.next(now)
            if item is None:
                break
            self._leave(direction, item, now)
        if outlet.ending and outlet.idle and not state.over:
            self._finish(direction)

    def _leave(self, direction: Direction, item: Item, now: int) -> None:
        state = self.state
        pending, message = (None, None) if item.told else (item.pending, item.message)
        if item.pieces is not None and item.gone + item.pieces.size < len(item.data):
            self._leave_in_part(direction, item, item.pieces, now)
            return
        if item.data:  # nothing leaves of a request that the proxy answers
            state.send(direction, item.data[item.gone :])
            if item.changed or item.late or item.ordinal < 0:
                comment = _comment(item, [], "", "")
                state.actions.append(Left(direction, item.data, comment, *_kind(item)))
            state.outlet[direction].passed()
        if pending is not None and item.unasked:
            self.marked[pending] = ""
            state.done(pending, note=UNANSWERED)
        invented = pending in self.marked and not self.marked[pending]
        if pending is not None and direction == "request":
            pending.sent = now
            if item.unanswered:
                if invented:
                    del self.marked[pending]
                else:
                    state.done(pending, note=UNANSWERED)
            else:
                state.pairing.sent(pending)
                if pending not in self.expected and not invented:
                    self.expect(pending)
        elif pending is not None:
            came = item.arrived if item.ordinal >= 0 else None
            size, body = len(item.data) - 4, item.response_body
            state.done(pending, size, body, came=came, left=now, rules=item.rules)
        if (
            message is not None
            and item.data
            and state.plan.watched(message.direction, message.key, message.version)
        ):
            state.crossing.passed(message)
        if item.copies and item.data:
            self._again(direction, item, now)
        if item.half_close:
            state.outlet[direction].lose()
            self._finish(direction)
        if item.hang_up is not None:
            state.abort(CUT_OFF, reset=item.hang_up.reset)

    def _leave_in_part(self, direction: Direction, item: Item, pieces: Pieces, now: int) -> None:
        """Send the next piece; the rest goes back to the head of the queue."""
        self.state.send(direction, item.data[item.gone : item.gone + pieces.size])
        item.gone += pieces.size
        item.at = now + pieces.every
        outlet = self.state.outlet[direction]
        outlet.queue.appendleft(item)
        outlet.bytes += item.cost

    def _again(self, direction: Direction, item: Item, now: int) -> None:
        """Let a message leave once more; what a broker answers to that is taken out."""
        comment = {"frame": item.ordinal, "what": ["repeated"]}
        for _ in range(item.copies):
            self.state.send(direction, item.data)
            self.state.actions.append(Left(direction, item.data, comment, *_kind(item)))
            if direction == "request" and item.pending is not None and not item.unanswered:
                copy = replace(item.pending, sent=now)
                self.marked[copy] = ""
                self.state.pairing.sent(copy)

    def _finish(self, direction: Direction) -> None:
        if direction not in self._finished:
            self._finished.add(direction)
            self.state.actions.append(Finish(direction))

    def ending(self, direction: Direction, now: int) -> None:
        """Nothing more will arrive in this direction: what can't come need not be waited for."""
        outlet = self.state.outlet[direction]
        outlet.ending = True
        for held in outlet.aside:
            waits = held.aside.until is not None or held.aside.passing is not None
            if waits and held.aside.same == "connection":
                held.deadline = now
        for window in outlet.windows.values():
            window.deadline = now
        for rule in list(outlet.batches):
            outlet.complete(rule)

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
    """Key and version of what is in a frame, as `barnabas.captures.writing.masking` has them."""
    pending, message = item.pending, item.message
    if pending is None and message is not None:  # of a dialect
        return message.key, message.version
    if pending is None:
        return UNSOLICITED, -1
    return pending.key, pending.version


def decided(decisions: list[Decision]) -> dict[str, Any]:
    """What the capture says of rules that fired: which, what they wanted done, and which of them
    depend on other connections."""
    if not decisions:
        return {}
    comment: dict[str, Any] = {
        "rules": [decision.rule for decision in decisions],
        "what": [text for decision in decisions for text in decision.text],
    }
    depends = [decision.rule for decision in decisions if decision.depends]
    return {**comment, "depends": depends} if depends else comment


def _comment(item: Item, decisions: list[Decision], left: str, note: str) -> dict[str, Any]:
    """What the capture says of a frame: its number, the rules, and how it left if not as it came."""
    comment: dict[str, Any] = {"frame": item.ordinal}
    if item.rules:
        comment["rules"] = list(item.rules)
    comment |= decided(decisions)
    if item.changed:
        comment["edits"] = list(item.changed)
    if left:
        comment["left"] = left
    if note:
        comment["note"] = note
    return comment
