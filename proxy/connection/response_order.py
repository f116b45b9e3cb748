"""Restores the order of responses.

A broker answers requests in the order in which it received them. If a rule changed that order, responses that
arrive early wait here for their turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.rules.rules import Decision


class ResponseOrder:
    """The expected responses of one connection, and those that wait for their turn."""

    def __init__(self) -> None:
        self.expected: deque[Pending] = deque()
        """The requests whose responses must leave in this order."""
        self.reordering = False
        """Whether a request has been put aside, and some expected response has not left yet."""
        self.bytes = 0
        """The memory of the responses that wait for their turn."""
        self._early: dict[Pending, tuple[OutgoingFrame, list[Decision]]] = {}

    def expect(self, pending: Pending) -> None:
        """Expect the response to a request after all others, if responses are being reordered."""
        if self.reordering:
            self.expected.append(pending)

    def begin(self, under_way: Iterable[Pending]) -> None:
        """Start to restore the order: expect the responses to the requests under way as they were sent."""
        self.reordering = True
        expected = set(self.expected)
        self.expected += (pending for pending in under_way if pending not in expected)

    def must_wait(self, pending: Pending) -> bool:
        """Return whether an earlier request's response must leave before this one's."""
        expected = self.expected
        return bool(expected) and expected[0] is not pending and pending in expected

    def hold_back(self, pending: Pending, frame: OutgoingFrame, decisions: list[Decision]) -> None:
        """Hold a response until its turn."""
        self._early[pending] = (frame, decisions)
        self.bytes += frame.cost

    def after(self, pending: Pending) -> Iterator[tuple[OutgoingFrame, list[Decision]]]:
        """Yield the responses that may follow the response to this request, in request order."""
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
        """Drop the decisions of removed rules about responses that wait for their turn."""
        for _, decisions in self._early.values():
            decisions[:] = [decision for decision in decisions if decision.rule in rules]

    def abandon(self) -> list[OutgoingFrame]:
        """Remove and return the waiting responses: the connection is closed."""
        frames = [frame for frame, _ in self._early.values()]
        self._early.clear()
        self.bytes = 0
        return frames
