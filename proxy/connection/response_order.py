"""Puts responses into the order of the client's requests.

A broker answers requests in the order in which it got them. Where a rule changed that order, early responses
wait here for their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.rules.rules import Decision


class ResponseOrder:
    """The responses of one connection that are expected, and those that wait for their turn."""

    def __init__(self) -> None:
        self.expected: deque[Pending] = deque()
        """Requests whose responses must come in this order."""
        self.reordering = False
        """Whether a request has stepped aside, and not all that are expected have been answered."""
        self.bytes = 0
        """Of responses that wait for their turn."""
        self._early: dict[Pending, tuple[OutgoingFrame, list[Decision]]] = {}

    def expect(self, pending: Pending) -> None:
        """A request has come (or, if its order need not be restored, has left)."""
        if self.reordering:
            self.expected.append(pending)

    def begin(self, under_way: Iterable[Pending]) -> None:
        """A request is about to step aside: those under way are expected as they were sent."""
        self.reordering = True
        known = set(self.expected)
        self.expected += (pending for pending in under_way if pending not in known)

    def must_wait(self, pending: Pending) -> bool:
        """Whether an earlier request's response must leave before this one's."""
        expected = self.expected
        return bool(expected) and expected[0] is not pending and pending in expected

    def hold_back(self, pending: Pending, frame: OutgoingFrame, decisions: list[Decision]) -> None:
        """Let a response wait for its turn."""
        self._early[pending] = (frame, decisions)
        self.bytes += frame.cost

    def after(self, pending: Pending) -> Iterator[tuple[OutgoingFrame, list[Decision]]]:
        """A response has had its turn: those that waited behind it follow."""
        expected = self.expected
        if expected and expected[0] is pending:
            expected.popleft()
        elif pending in expected:
            expected.remove(pending)
        while expected and expected[0] in self._early:
            frame, decisions = self._early.pop(expected.popleft())
            self.bytes -= frame.cost
            yield frame, decisions

    def keep(self, rules: Collection[str]) -> None:
        """Other rules are gone: what they decided of responses that wait for their turn is off."""
        for _, decisions in self._early.values():
            decisions[:] = [decision for decision in decisions if decision.rule in rules]

    def abandon(self) -> list[OutgoingFrame]:
        """The responses that wait, taken out: the connection is over."""
        frames = [frame for frame, _ in self._early.values()]
        self._early.clear()
        self.bytes = 0
        return frames
