"""Carries out what rules decided about whole frames: when, where and whether each leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Left
from barnabas.proxy.connection.capture_comments import decided, described
from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame
from barnabas.proxy.connection.response_order import ResponseOrder
from barnabas.proxy.connection.send_queue import Held, Window
from barnabas.proxy.connection.state import State
from barnabas.proxy.effects import Answer, Aside, Effect, Halt, HangUp, Insert, Lose, Shuffle, Wait
from barnabas.proxy.rules.merged_effects import MergedEffects, merge
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction, request_head

ANSWERED: Final = "answered by the proxy"

_NOTHING: Final = MergedEffects()


class Dispatch:
    """Where the frames of one connection go once the rules have decided."""

    def __init__(self, state: State, actions: ActionBuffer) -> None:
        self.state = state
        self.actions = actions
        self.order = ResponseOrder()

    def request(self, frame: OutgoingFrame, decisions: list[Decision], now: int, at: int) -> None:
        """A request goes its way, or the proxy answers it."""
        answer = next((each for each in _effects(decisions) if isinstance(each, Answer)), None)
        if answer is None:
            self._request(frame, decisions, now, at)
        else:
            self.answer(frame, answer.body, decisions, now, at)

    def answer(
        self, frame: OutgoingFrame, body: bytes, decisions: list[Decision], now: int, at: int
    ) -> None:
        """The proxy answers a request when it is its turn; nothing of it leaves."""
        comment: dict[str, Any] = {"frame": frame.ordinal, "left": "never", "note": ANSWERED}
        self.actions.cut("request", at, comment | decided(decisions))
        self.own_reply(frame, body)
        frame.data = b""
        self._request(frame, decisions, now, None)

    def own_reply(self, frame: OutgoingFrame, body: bytes) -> None:
        """A request's answer of the proxy's own, if the client waits for any."""
        assert frame.pending is not None  # noqa: S101 - a request
        frame.answered = frame.awaited
        if frame.awaited:
            self.state.own_replies[frame.pending] = body
            self.state.kept += len(body)
        else:
            frame.pending.note = "taken out by a rule"

    def _request(
        self, frame: OutgoingFrame, decisions: list[Decision], now: int, at: int | None
    ) -> None:
        """A request goes its way; its response, if there will be one, has its place in the order."""
        asides = [each for each in _effects(decisions) if isinstance(each, Aside | Shuffle)]
        if all(effect.restore for effect in asides):
            if asides and not self.order.reordering:
                self.order.begin(self._under_way())
            if frame.pending and frame.awaited and frame.answered and not is_lost(decisions):
                self.order.expect(frame.pending)
        self.frame("request", frame, decisions, now, at)

    def _under_way(self) -> Iterator[Pending]:
        yield from self.state.pairing.waiting
        for frame in self.state.queues["request"].in_order:
            if frame.pending is not None and frame.answered:
                yield frame.pending

    def response(self, frame: OutgoingFrame, decisions: list[Decision], now: int, at: int) -> None:
        """A response goes its way, now or when it is its turn; those behind it follow."""
        pending = frame.pending
        if pending is not None and (rule := self.state.reply_lost_by.pop(pending, "")):
            frame.rules = (*frame.rules, rule)
            decisions = [*decisions, Decision(rule, (HangUp(),), ("the response is lost",))]
        if pending is not None and self.order.must_wait(pending):
            self.order.hold_back(pending, frame, decisions)
            if frame.ordinal >= 0:
                comment = described(frame, decisions, "later")
                comment.setdefault("what", []).append("put back into the client's order")
                self.actions.cut("response", at, comment)
            return
        self.frame("response", frame, decisions, now, at)
        if pending is not None:
            self.turn(pending, now)

    def turn(self, pending: Pending, now: int) -> None:
        """A response has had its turn: those that waited behind it follow."""
        if not self.order.expected:
            return
        for frame, decisions in self.order.after(pending):
            frame.delivery.late = True
            self.frame("response", frame, decisions, now, at=None)

    def frame(
        self,
        direction: Direction,
        frame: OutgoingFrame,
        decisions: Sequence[Decision],
        now: int,
        at: int | None,
    ) -> None:
        """Let a whole frame go the way that the rules decided.

        `at` is where it ends in the present chunk; None if its arrival was noted before.
        """
        queue, delivery = self.state.queues[direction], frame.delivery
        found = merge(decisions) if decisions else _NOTHING
        self._schedule(direction, frame, found, now)
        note = self._why_not(direction, found)
        truncated = not note and found.keep is not None
        if truncated:
            note = f"{direction} truncated by a rule"
        waits = found.chosen or found.gather or found.pieces or delivery.not_before > now
        left = ""
        if note:
            left = "never"
        elif waits or queue.in_order:
            left = "later"
        elif frame.changed:
            left = "changed"
        if at is not None and frame.ordinal >= 0 and (decisions or left):
            self.actions.cut(direction, at, described(frame, decisions, left, note))
        if note:
            self.lost(direction, frame, note)
        if truncated:
            # the exchange is over, and what is left of the message still leaves
            delivery.accounted = True
            frame.data, frame.changed = frame.data[: found.keep], (*frame.changed, "truncated")
        elif note:
            if isinstance(found.chosen, Lose) and not found.chosen.selective:
                for other in queue.lose():
                    self.lost(direction, other, f"{direction} lost behind a dropped one")
            elif found.hang_up is not None and not queue.lost:
                self.actions.abort(note, reset=found.hang_up.reset)
            return
        delivery.late |= left == "later"
        self._enqueue(direction, frame, found, now)
        for insert in found.inserts:
            self._insert(insert, frame, now)

    def behind(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        """A frame has left: repeat it, end its direction or the connection, as rules want."""
        delivery, queue = frame.delivery, self.state.queues[direction]
        if frame.data:
            for _ in range(delivery.copies):
                self._repeat(direction, frame, now)
        if delivery.half_close:
            for other in queue.abandon():
                self.lost(direction, other, f"{direction} lost behind a half-close")
            queue.ending = True
        if delivery.hang_up is not None:
            self.actions.abort(CUT_OFF, reset=delivery.hang_up.reset)

    def _repeat(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        """Let a message leave once more; what a broker answers to that is taken out."""
        comment = {"frame": frame.ordinal, "what": ["repeated"]}
        self.actions.send(direction, frame.data)
        self.actions.append(Left(direction, frame.data, comment, *frame.kind))
        if direction == "request" and frame.pending is not None and frame.answered:
            copy = replace(frame.pending, sent=now)
            self.state.unwanted.add(copy)
            self.state.pairing.sent(copy)

    def lost(self, direction: Direction, frame: OutgoingFrame, note: str) -> None:
        """Account for an exchange whose request or response will never leave."""
        if frame.pending is None:
            return
        size = came = None
        if direction == "response":
            size, came = len(frame.data) - 4, frame.arrived
        else:
            frame.pending.sent = 0
        body, rules = frame.response_body, frame.rules
        self.actions.done(frame.pending, size, body, came=came, rules=rules, note=note)

    def _schedule(
        self, direction: Direction, frame: OutgoingFrame, found: MergedEffects, now: int
    ) -> None:
        """When and how the frame leaves, and what becomes of the connection and of others."""
        state, delivery = self.state, frame.delivery
        for effect in found.times:
            if isinstance(effect, Wait):
                delivery.not_before = max(delivery.not_before, frame.arrived) + effect.ns
            else:
                delivery.not_before = effect.leave(max(delivery.not_before, now))
        for stall in found.stalls:
            state.stalled[stall.direction] = now + stall.ns
        for partition in found.partitions:
            state.shared.isolate(partition, now)
        if found.silence is not None:
            until = now + found.silence.at_most
            state.silent = True
            state.until = until if state.until is None else min(state.until, until)
        if found.reply_lost_by and frame.pending is not None:
            state.reply_lost_by[frame.pending] = found.reply_lost_by
        delivery.copies, delivery.pieces = found.copies, found.pieces
        delivery.half_close, delivery.hang_up = found.half_close, found.hang_up
        apart = state.shared.isolated(state.client_id, state.broker, now)
        delivery.not_before = max(delivery.not_before, apart.get(direction, 0))

    def _why_not(self, direction: Direction, found: MergedEffects) -> str:
        """Why a frame never leaves; "" if it does, at least in part."""
        if self.state.silent:
            return f"{direction} lost in a black hole"
        if self.state.queues[direction].lost:
            return f"{direction} lost behind a dropped one"
        return self.refused(direction, found)

    def refused(self, direction: Direction, found: MergedEffects) -> str:
        """The same as far as rules have decided it."""
        if isinstance(found.chosen, Lose):
            return f"{direction} dropped by a rule"
        if found.hang_up is not None and not found.hang_up.forward:
            return f"{direction} not forwarded: {CUT_OFF}"
        return ""

    def _enqueue(
        self, direction: Direction, frame: OutgoingFrame, found: MergedEffects, now: int
    ) -> None:
        """Put a frame where it waits, if for nothing else then for its turn."""
        shared, queue = self.state.shared, self.state.queues[direction]
        match found.chosen:
            case Shuffle(scope="") as chosen:
                queue.gather(found.by, Window(chosen.order, now + chosen.at_most), frame)
            case Shuffle() as chosen:
                held = Held(frame, Aside(chosen.at_most), found.by, now + chosen.at_most)
                queue.set_aside(held)
                shared.windows.gather(direction, chosen, self.state.number, held, now)
            case Aside() as chosen:
                until = now + chosen.at_most
                held = Held(frame, chosen, found.by, until, chosen.passing or 0)
                queue.set_aside(held)
                if chosen.until is not None:
                    shared.wait(self.state.number, held)
            case Halt() as chosen:
                self.state.halts += 1
                number = f"{self.state.number}.{self.state.halts}"
                frame.delivery.halted = Halted(number, found.by, now, now + chosen.at_most)
                queue.append(frame)
            case _ if found.gather is not None:
                queue.batch(found.gathered_by, found.gather, frame, now)
            case _:
                queue.append(frame)

    def _insert(self, insert: Insert, cause: OutgoingFrame, now: int) -> None:
        """Let a frame leave that nobody sent."""
        frame = OutgoingFrame(insert.frame, -1, now, changed=("injected",))
        if insert.direction == "request":
            head = request_head(insert.frame, 4, len(insert.frame))
            frame.pending = Pending(
                head.correlation_id, head.key, head.version, head.client_id, 0, now, now
            )
            if head.acks == 0:
                frame.answered = False
            self.state.unwanted.add(frame.pending)
        self.state.queues[insert.direction].append(frame)


def _effects(decisions: Sequence[Decision]) -> Iterator[Effect]:
    """What all rules want done, in order."""
    return (effect for decision in decisions for effect in decision.effects)


def is_lost(decisions: Sequence[Decision]) -> bool:
    """Whether a frame does not get to the other side."""
    return any(
        isinstance(effect, Lose) or (isinstance(effect, HangUp) and not effect.forward)
        for effect in _effects(decisions)
    )
