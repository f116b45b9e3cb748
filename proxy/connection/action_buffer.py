"""Collects the actions of one call of a connection, in order, and counts the exchanges that end."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.notes import WITHHELD
from barnabas.captures.kafka.pairing.exchange_builder import (
    UNANSWERED,
    Link,
    Outcome,
    build_exchange,
)
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.actions import Abort, Action, Cut, Done, Say, Send
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.state import State
from barnabas.proxy.rules.rule import MAX_REPORTS
from barnabas.specs.frames import Direction


class ActionBuffer:
    """The actions of the present call of one connection."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._link = Link(
            state.number,
            state.client,
            broker=None if state.controller else state.broker,
            controller=state.broker if state.controller else None,
            proxied=state.plan.dialect is None,
        )
        self.actions: list[Action] = []
        self.append = self.actions.append
        self._piece: tuple[int, int, int] | None = None
        """The last sent piece of the chunk: its index in `actions`, its start and its end."""

    def begin(self) -> None:
        """Begin a call with an empty list of actions."""
        self.actions = []
        self.append = self.actions.append
        self._piece = None

    def send(self, direction: Direction, data: bytes) -> None:
        """Send bytes that are not a piece of the present chunk."""
        self._piece = None
        self.append(Send(direction, data))

    def send_piece(self, direction: Direction, data: memoryview, start: int, end: int) -> None:
        """Send a piece of the present chunk; pieces that touch become one action."""
        if self._piece is not None and self._piece[2] == start:
            index, first, _ = self._piece
            self.actions[index] = Send(direction, data[first:end])
            self._piece = (index, first, end)
        else:
            self._piece = (len(self.actions), start, end)
            self.append(Send(direction, data[start:end]))

    def cut(self, direction: Direction, at: int, comment: dict[str, Any]) -> None:
        """Add a comment for the capture at an offset of the present chunk, in bytes."""
        self.append(Cut(direction, at, comment))

    def say(self, text: str) -> None:
        """Report a line, prefixed with the connection's name, to the person who runs the proxy."""
        self.append(Say(f"{self._state.name}: {text}"))

    def abort(self, reason: str, *, reset: bool = False) -> None:
        """Close both sides now."""
        self._state.on("close")
        self._piece = None
        self.append(Abort(reason, reset))

    def give_up(self, reason: str, advice: str = "") -> None:
        """Close both sides now and report the reason and the remedy."""
        self.say(f"{reason}; connection closed{advice}")
        self.abort(reason)

    def flag(self, direction: Direction, ordinal: int, at: int, reason: str) -> None:
        """Count a frame that passes undecoded; note the reason in the capture and report the first ones."""
        self._state.totals.undecoded += 1
        self.cut(direction, at, {"frame": ordinal, "undecodable": reason})
        if self._state.totals.undecoded <= MAX_REPORTS:
            self.say(f"{direction} undecodable, forwarded unchanged: {reason}")

    def withhold(
        self, direction: Direction, pending: Pending | None, at: int, reason: str, now: int
    ) -> None:
        """Close both sides because the response that has just arrived may not pass; count and report it.

        Args:
            direction: The direction in which the response came.
            pending: The request that it answers, if it answers any.
            at: The offset in the present chunk at which the response ends.
            reason: Why it may not pass.
            now: When it arrived, in ns.
        """
        self._state.totals.withheld += 1
        ingress = self._state.ingress[direction]
        comment = {
            "frame": ingress.frames - 1,
            "left": "never",
            "note": WITHHELD,
            "withheld": reason,
        }
        self.cut(direction, at, comment)
        if pending is not None:
            self.done(pending, Outcome(now, None, ingress.size), WITHHELD)
        self.give_up(reason)

    def lost(self, direction: Direction, frame: OutgoingFrame, note: str) -> None:
        """Account for an exchange whose request or response will never leave."""
        if frame.pending is None:
            return
        outcome = Outcome(response_body=frame.response_body, rules=frame.rules)
        if direction == "response":
            outcome = outcome._replace(received=frame.arrived, response_size=len(frame.data) - 4)
        else:
            frame.pending.sent = 0
            self._state.forget_reply(frame.pending)
        self.done(frame.pending, outcome, note)

    def done(self, pending: Pending, outcome: Outcome = UNANSWERED, note: str = "") -> None:
        """Count an exchange that is over, and report it if exchanges are observed."""
        state = self._state
        departed_at = outcome.answered
        state.tally.note(
            pending.key, None if departed_at is None else departed_at - pending.arrived
        )
        state.retained_bytes -= len(pending.body or b"")
        if not state.observed:
            pending.body = None
            return
        if note:
            outcome = outcome._replace(note=note)
        exchange = build_exchange(pending, self._link, outcome)
        pending.body = None
        if exchange.request_size > state.limits.copy:
            exchange.leave_out("request")
        if (exchange.response_size or 0) > state.limits.copy:
            exchange.leave_out("response")
        self.append(Done(exchange))
