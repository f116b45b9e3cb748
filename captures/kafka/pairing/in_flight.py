"""Track the requests in flight on one connection, and find the request that a response answers.

Pure: the proxy and the readers of captures use the same pairing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

LIMIT: Final = 10_000
"""Requests in flight on one connection; clients allow 5 to 1,000,000, and use 5."""


@dataclass(slots=True, eq=False)
class Pending:
    """A request in flight. `arrived` and `sent` are ns since the epoch.

    Compared by identity, since two requests may be equal in all fields.
    """

    correlation_id: int
    key: int
    version: int
    client_id: str | None
    size: int
    arrived: int
    sent: int
    body: bytes | None = None
    rules: tuple[str, ...] = ()
    opaque: bool = False
    """Whether neither the request nor its response has a readable header (`HEADLESS`)."""
    note: str = ""
    group: str | None = None
    """The group that the request names, if a rule needs it."""
    begun: int = 0
    """When the previous response arrived: a broker works on one request of a connection at a time, so it did
    not begin with this request earlier."""
    sasl: str = ""
    """See `Exchange.sasl`."""
    user: str | None = None
    """See `Exchange.user`."""
    payload: dict[str, str] | None = None
    """Hashes in place of the request's payload, if a capture masked it."""
    packet: int = 0
    """See `Exchange.request_packet`."""
    ordinal: int = 0
    """See `Exchange.ordinal`."""
    request_place: int = -1
    response_place: int = -1
    """See `Exchange`."""
    request_left: bytes | None = None
    """See `Exchange.request_left`."""


class Pairing:
    """The requests in flight on one connection, in the order in which they left."""

    __slots__ = ("latest", "limit", "waiting")

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.waiting: deque[Pending] = deque()
        """Public, since the proxy's hot path pops from it while responses are in order."""
        self.latest = 0
        """When the latest response arrived."""

    def sent(self, pending: Pending) -> bool:
        """Add a request that expects a response. False, and not added: too many are in flight."""
        if len(self.waiting) >= self.limit:
            return False
        self.waiting.append(pending)
        return True

    def answer(self, correlation_id: int | None) -> tuple[Pending | None, bool]:
        """Remove and return the request that a response answers, and whether the response was in order.

        First in, first out; the correlation id is the check, not the key. A request further back (requests
        were reordered, or the peer is faulty) is returned with False, a missing request as (None, False). A
        response to a raw SASL token has no correlation id: pass None.

        >>> pairing = Pairing()
        >>> for i in (7, 8):
        ...     _ = pairing.sent(Pending(i, 3, 1, "a", 20, 0, 0))
        >>> pairing.answer(8)[1], pairing.answer(7)[1], pairing.answer(7)
        (False, True, (None, False))
        """
        for index, pending in enumerate(self.waiting):
            if pending.opaque if correlation_id is None else _is(pending, correlation_id):
                del self.waiting[index]
                return pending, index == 0
        return None, False

    def answered_by(self, begun: bytes) -> Pending | None:
        """Remove and return the request of a partial response; None: no request, or too few bytes.

        `begun` are the first bytes of the response, without its size.
        """
        opaque = bool(self.waiting) and self.waiting[0].opaque
        if len(begun) < 4 and not opaque:
            return None
        return self.answer(None if opaque else int.from_bytes(begun[:4], signed=True))[0]

    def passed_over(self, correlation_id: int) -> list[Pending]:
        """Remove and return requests without a header before the request that this response answers.

        Brokers answer in order, but do not answer the last token of GSSAPI.

        >>> pairing = Pairing()
        >>> for token in (True, False):
        ...     _ = pairing.sent(Pending(7, -1, 0, "a", 20, 0, 0, opaque=token))
        >>> len(pairing.passed_over(8)), len(pairing.passed_over(7)), len(pairing.waiting)
        (0, 1, 1)
        """
        waiting = self.waiting
        skipped: list[Pending] = []
        if waiting and waiting[0].opaque and any(_is(each, correlation_id) for each in waiting):
            while waiting[0].opaque:
                skipped.append(waiting.popleft())
        return skipped

    def by_correlation_id(self) -> dict[int, tuple[int, int]]:
        """Return key and version of the requests in flight, by correlation id."""
        return {
            pending.correlation_id: (pending.key, pending.version)
            for pending in self.waiting
            if not pending.opaque
        }

    def before(self, correlation_id: int) -> list[Pending]:
        """Remove and return the requests that left before this one; none if it is not in flight.

        >>> pairing = Pairing()
        >>> for i in (7, 8):
        ...     _ = pairing.sent(Pending(i, 3, 1, "a", 20, 0, 0))
        >>> [pending.correlation_id for pending in pairing.before(8)], len(pairing.waiting)
        ([7], 1)
        """
        for index, pending in enumerate(self.waiting):
            if _is(pending, correlation_id):
                return [self.waiting.popleft() for _ in range(index)]
        return []

    def note_response(self, pending: Pending, when: int) -> None:
        """Note that the response to a request has arrived completely."""
        pending.begun = self.latest
        self.latest = when

    def unanswered(self) -> list[Pending]:
        """Remove and return all requests in flight, when the connection closes."""
        waiting = list(self.waiting)
        self.waiting.clear()
        return waiting


def _is(pending: Pending, correlation_id: int) -> bool:
    return pending.correlation_id == correlation_id and not pending.opaque
