"""Carries out what rules decided about whole frames: when, where and whether each frame leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame, comment_on
from barnabas.proxy.connection.send_queue import HeldFrame
from barnabas.proxy.connection.state import Phase, Reply, State
from barnabas.proxy.effects import (
    Amend,
    Answer,
    Aside,
    Effect,
    Halt,
    HangUp,
    Insert,
    Lose,
    Shuffle,
    Wait,
)
from barnabas.proxy.rules.merged_effects import MergedEffects, merge
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction, request_head

ANSWERED: Final = "answered by the proxy"


class Dispatch:
    """The part of a connection that carries out the decisions about whole frames."""

    def __init__(self, state: State, actions: ActionBuffer) -> None:
        self.state = state
        self.actions = actions

    def request(self, frame: OutgoingFrame, decisions: list[Decision], now: int, at: int) -> None:
        """Forward a request as rules decided, or answer it instead of the broker.

        The frame ends at offset `at` of the present chunk.
        """
        effects = frame.delivery.effects = merge(decisions)
        answer = next((each for each in _effects(decisions) if isinstance(each, Answer)), None)
        ends_at: int | None = at
        if answer is not None:
            comment: dict[str, Any] = {"frame": frame.ordinal, "left": "never", "note": ANSWERED}
            self.actions.cut("request", at, comment | comment_on(decisions))
            self.own_reply(frame, answer.body)
            frame.data, ends_at = b"", None
        self.amend_reply(frame, decisions)
        order = self.state.order
        asides = [each for each in _effects(decisions) if isinstance(each, Aside | Shuffle)]
        if all(effect.restore for effect in asides):
            if asides and not order.reordering:
                order.begin(self._in_flight())
            lost = refused("request", effects)
            if frame.pending and frame.awaited and frame.answered and not lost:
                order.expect(frame.pending)
        self._carry_out("request", frame, decisions, now, ends_at)

    def own_reply(self, frame: OutgoingFrame, body: bytes) -> None:
        """Retain the proxy's own response to a request until its turn, if the client waits for a response."""
        assert frame.pending is not None  # noqa: S101 - a request
        frame.answered = frame.awaited
        if frame.awaited:
            self.state.reply(frame.pending).body = body
            self.state.retained_bytes += len(body)
        else:
            frame.pending.note = "taken out by a rule"

    def amend_reply(self, frame: OutgoingFrame, decisions: Sequence[Decision]) -> None:
        """Note the changes that rules make to the response to a request."""
        amends = tuple(
            (decision.rule, effect)
            for decision in decisions
            for effect in decision.effects
            if isinstance(effect, Amend)
        )
        if amends and frame.pending is not None and frame.awaited:
            self.state.reply(frame.pending).amends += amends
            self.state.retained_bytes += sum(amend.size for _, amend in amends)

    def _in_flight(self) -> Iterator[Pending]:
        yield from self.state.pairing.waiting
        for frame in self.state.queues["request"].in_order:
            if frame.pending is not None and frame.answered:
                yield frame.pending

    def response(self, frame: OutgoingFrame, decisions: list[Decision], now: int, at: int) -> None:
        """Forward a response as rules decided, in the order of the client's requests."""
        pending, order = frame.pending, self.state.order
        reply = None if pending is None else self.state.forget_reply(pending)
        if reply is not None and (rule := reply.lost_by):
            frame.rules = (*frame.rules, rule)
            decisions = [*decisions, Decision(rule, (HangUp(),), ("the response is lost",))]
        if pending is not None and order.must_wait(pending):
            order.hold_back(pending, frame, decisions)
            if frame.ordinal >= 0:
                comment = frame.comment(decisions, "later")
                comment.setdefault("what", []).append("put back into the client's order")
                self.actions.cut("response", at, comment)
            return
        self.frame("response", frame, decisions, now, at)
        if pending is not None:
            self.turn(pending, now)

    def turn(self, pending: Pending, now: int) -> None:
        """Release the responses that waited for the response to this request, in request order."""
        if not self.state.order.expected:
            return
        for frame, decisions in self.state.order.after(pending):
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
        """Queue a whole frame as rules decided, or account for it if it never leaves.

        The frame ends at offset `at` of the present chunk; None if its arrival was noted before.
        """
        frame.delivery.effects = merge(decisions)
        self._carry_out(direction, frame, decisions, now, at)

    def _carry_out(
        self,
        direction: Direction,
        frame: OutgoingFrame,
        decisions: Sequence[Decision],
        now: int,
        at: int | None,
    ) -> None:
        """Queue a frame as its merged effects say, or account for it if it never leaves."""
        delivery, effects = frame.delivery, frame.delivery.effects
        self._schedule(direction, frame, effects, now)
        note = self._refusal(direction, effects)
        departure = (
            "never" if note or effects.keep is not None else self._departure(direction, frame, now)
        )
        truncated = not note and effects.keep is not None
        if truncated:
            note = f"{direction} truncated by a rule"
        if at is not None and frame.ordinal >= 0 and (decisions or departure):
            self.actions.cut(direction, at, frame.comment(decisions, departure, note))
        if note:
            self.actions.lost(direction, frame, note)
        if truncated:
            # the exchange is over, and the kept bytes of the message still leave
            delivery.accounted = True
            frame.data, frame.changed = frame.data[: effects.keep], (*frame.changed, "truncated")
        elif note:
            self._lose(direction, effects, note)
            return
        delivery.late |= departure == "later"
        self._enqueue(direction, frame, now)
        for insert in effects.inserts:
            self._insert(insert, now)

    def _departure(self, direction: Direction, frame: OutgoingFrame, now: int) -> str:
        """Return how the capture marks the frame's departure; "" if unchanged and at once."""
        effects = frame.delivery.effects
        waits = effects.chosen or effects.gather or effects.pieces
        if waits or frame.delivery.not_before > now or self.state.queues[direction].in_order:
            return "later"
        return "changed" if frame.changed else ""

    def _lose(self, direction: Direction, effects: MergedEffects, note: str) -> None:
        """Lose the frames after a lost frame, or close the connection, as rules decided."""
        queue = self.state.queues[direction]
        if isinstance(effects.chosen, Lose) and not effects.chosen.selective:
            for other in queue.lose():
                self.actions.lost(direction, other, f"{direction} lost after a dropped one")
        elif effects.hang_up is not None and not queue.lost:
            self.actions.abort(note, reset=effects.hang_up.reset)

    def _schedule(
        self, direction: Direction, frame: OutgoingFrame, effects: MergedEffects, now: int
    ) -> None:
        """Set the frame's earliest departure, and apply the effects on connections."""
        state, delivery = self.state, frame.delivery
        for effect in effects.times:
            if isinstance(effect, Wait):
                delivery.not_before = max(delivery.not_before, frame.arrived) + effect.ns
            else:
                delivery.not_before = effect.leave(max(delivery.not_before, now))
        for stall in effects.stalls:
            state.stalled_until[stall.direction] = now + stall.ns
        for partition in effects.partitions:
            state.shared.isolate(partition, now)
        if effects.silence is not None:
            until = now + effects.silence.at_most
            state.on("black hole")
            state.closes_at = until if state.closes_at is None else min(state.closes_at, until)
        if effects.reply_lost_by and frame.pending is not None:
            state.reply(frame.pending).lost_by = effects.reply_lost_by
        apart = state.shared.isolated(state.client_id, state.broker, now)
        delivery.not_before = max(delivery.not_before, apart.get(direction, 0))

    def _refusal(self, direction: Direction, effects: MergedEffects) -> str:
        """Return why a frame never leaves; "" if it does, at least in part."""
        if self.state.phase is Phase.SILENT:
            return f"{direction} lost in a black hole"
        if self.state.queues[direction].lost:
            return f"{direction} lost after a dropped one"
        return refused(direction, effects)

    def _enqueue(self, direction: Direction, frame: OutgoingFrame, now: int) -> None:
        """Put a frame into the queue or aside, as its effects say."""
        state, effects = self.state, frame.delivery.effects
        shared, queue = state.shared, state.queues[direction]
        match effects.chosen:
            case Shuffle() as chosen:
                held = HeldFrame(frame, Aside(chosen.at_most), effects.by, now + chosen.at_most)
                queue.set_aside(held)
                shared.windows.gather(direction, chosen, state.number, held, now)
            case Aside() as chosen:
                until = now + chosen.at_most
                held = HeldFrame(frame, chosen, effects.by, until, chosen.passing or 0)
                queue.set_aside(held)
                if chosen.until is not None:
                    shared.wait(state.number, held)
            case Halt() as chosen:
                state.halts += 1
                number = f"{state.number}.{state.halts}"
                frame.delivery.halted = Halted(number, effects.by, now, now + chosen.at_most)
                queue.append(frame)
            case _ if effects.gather is not None:
                queue.batch(effects.gathered_by, effects.gather, frame, now)
            case _:
                queue.append(frame)

    def _insert(self, insert: Insert, now: int) -> None:
        """Queue a frame that the proxy made."""
        frame = OutgoingFrame(insert.frame, -1, now, changed=("injected",))
        if insert.direction == "request":
            head = request_head(insert.frame, 4, len(insert.frame))
            frame.pending = Pending(
                head.correlation_id, head.key, head.version, head.client_id, 0, now, now
            )
            if head.acks == 0:
                frame.answered = False
            self.state.replies[frame.pending] = Reply(unwanted=True)
        self.state.queues[insert.direction].append(frame)


def _effects(decisions: Sequence[Decision]) -> Iterator[Effect]:
    """Yield the effects of all decisions, in order."""
    return (effect for decision in decisions for effect in decision.effects)


def refused(direction: Direction, effects: MergedEffects) -> str:
    """Return why rules do not let a frame leave; "" if they do, at least in part."""
    if isinstance(effects.chosen, Lose):
        return f"{direction} dropped by a rule"
    if effects.hang_up is not None and not effects.hang_up.forward:
        return f"{direction} not forwarded: {CUT_OFF}"
    return ""


def is_lost(decisions: Sequence[Decision]) -> bool:
    """Return whether the receiver never gets the frame, by decision of the rules."""
    return bool(refused("request", merge(decisions)))
