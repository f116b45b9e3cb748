"""The requests of one connection that are in flight, and which of them a response answers.

Pure: the proxy and all that reads captures use the same pairing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

LIMIT: Final = 10_000
"""How many requests may wait on one connection; clients send 5 to 1,000,000, and mean the 5."""


@dataclass(slots=True, eq=False)
class Pending:
    """A request that waits for its response. `arrived` and `sent` are ns since the epoch.

    Compared by identity: two requests may have everything in common.
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
    """When the previous response came: a broker works on one request of a connection at a time, so it
    can't have begun with this request earlier."""
    sasl: str = ""
    """See `Exchange.sasl`."""
    user: str | None = None
    """See `Exchange.user`."""
    payload: dict[str, str] | None = None
    """Hashes in place of the request's payload, if it was masked in a capture."""
    packet: int = 0
    """See `Exchange.request_packet`."""
    ordinal: int = 0
    """See `Exchange.ordinal`."""
    request_place: int = -1
    response_place: int = -1
    """See `Exchange`."""
    left: bytes | None = None
    """See `Exchange.request_left`."""


class Pairing:
    """The requests of one connection that wait for their responses, in the order they left."""

    __slots__ = ("latest", "limit", "waiting")

    def __init__(self, limit: int = LIMIT) -> None:
        self.limit = limit
        self.waiting: deque[Pending] = deque()
        """Public: as long as all is in order, the proxy's hot path pops from here by itself."""
        self.latest = 0
        """When the latest response had come."""

    def sent(self, pending: Pending) -> bool:
        """Note a request that expects a response. False, and not noted: too many wait already."""
        if len(self.waiting) >= self.limit:
            return False
        self.waiting.append(pending)
        return True

    def answer(self, correlation_id: int | None) -> tuple[Pending | None, bool]:
        """The request that a response belongs to, taken out, and whether that was in order.

        First in, first out; the correlation id is the check and not the key. A request found
        further back (requests were reordered, or the peer is broken) comes with False, none at all
        as (None, False). A response to a raw SASL token has no correlation id: None.

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
        """Take out the request that a response answers of which these are the first bytes, without its
        size; None: there is none, or too few came."""
        opaque = bool(self.waiting) and self.waiting[0].opaque
        if len(begun) < 4 and not opaque:
            return None
        return self.answer(None if opaque else int.from_bytes(begun[:4], signed=True))[0]

    def passed_over(self, correlation_id: int) -> list[Pending]:
        """Take out what has no header in front of the request that this response answers: brokers answer
        in order, and not at all the last token of GSSAPI.

        >>> pairing = Pairing()
        >>> for token in (True, False):
        ...     _ = pairing.sent(Pending(7, -1, 0, "a", 20, 0, 0, opaque=token))
        >>> len(pairing.passed_over(8)), len(pairing.passed_over(7)), len(pairing.waiting)
        (0, 1, 1)
        """
        waiting = self.waiting
        found: list[Pending] = []
        if waiting and waiting[0].opaque and any(_is(each, correlation_id) for each in waiting):
            while waiting[0].opaque:
                found.append(waiting.popleft())
        return found

    def asked(self) -> dict[int, tuple[int, int]]:
        """(key, version) of the requests that wait, by correlation id."""
        return {
            pending.correlation_id: (pending.key, pending.version)
            for pending in self.waiting
            if not pending.opaque
        }

    def before(self, correlation_id: int) -> list[Pending]:
        """Take out those that left before this one; none if it does not wait.

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

    def came(self, pending: Pending, when: int) -> None:
        """The response to a request has come, whole."""
        pending.begun = self.latest
        self.latest = when

    def unanswered(self) -> list[Pending]:
        """Take out all that wait: the connection is closed."""
        waiting = list(self.waiting)
        self.waiting.clear()
        return waiting


def _is(pending: Pending, correlation_id: int) -> bool:
    return pending.correlation_id == correlation_id and not pending.opaque
