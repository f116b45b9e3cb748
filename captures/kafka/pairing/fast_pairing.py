"""The fast path of pairing, for chunks without comments.

Each method returns how far into the chunk it went, too, and leaves the rest to the careful path in
`conversation`: a frame that is not whole, a request that begins with other bytes than the last one of its
kind, a response out of order. The careful path makes the same exchanges of all frames.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from barnabas.captures.kafka import notes
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT, Framing
from barnabas.captures.kafka.pairing.captured_requests import reach_of_head
from barnabas.captures.kafka.pairing.exchange_builder import Link, Outcome, build_exchange
from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from barnabas.captures.tcp.events import Chunk
from barnabas.specs.frames import RequestHead
from barnabas.specs.headers import response_header_version

_REQUEST: Final = struct.Struct(">iIi").unpack_from
"""The size; key and version as one number; the correlation id."""
_RESPONSE: Final = struct.Struct(">ii").unpack_from
_SAME: Final = 12
"""Bytes before those that requests of a kind have in common."""
_LEAST: Final = 9
"""Bytes of a response that show where its body begins."""


class _Kind(NamedTuple):
    """Requests of one API and version that begin with the same bytes: all that their head says."""

    key: int
    version: int
    client_id: str | None
    same: bytes
    reach: int
    """Where these bytes end in a frame with its size."""
    body: int
    """Where the body begins in such a frame."""
    tagged: bool
    """Whether the header of the response may have tags."""
    answered: bool
    """False for Produce with acks=0."""


class FastPairing:
    """What the hot path knows of a connection."""

    __slots__ = ("_kinds", "_link", "_pairing", "user")

    def __init__(self, link: Link, pairing: Pairing) -> None:
        self._link = link
        self._pairing = pairing
        self._kinds: dict[int, _Kind] = {}
        self.user: str | None = None
        """Who is authenticated."""

    def learn(self, frame: bytes, head: RequestHead) -> None:
        """From now on requests that begin like this one are as usual."""
        reach = reach_of_head(frame, head)
        if reach is None:
            return
        self._kinds[head.key << 16 | head.version] = _Kind(
            head.key,
            head.version,
            head.client_id,
            frame[_SAME - 4 : reach],
            4 + reach,
            4 + head.body,
            response_header_version(head.key, head.version) > 0,
            head.acks != 0,
        )

    def requests(self, framing: Framing, chunk: Chunk) -> tuple[list[Exchange], int]:
        """Enter requests among those that wait; returns the exchanges of those that nobody answers."""
        found: list[Exchange] = []
        _, _, _, ts, data, _, packet = chunk
        unanswered = Outcome(note=notes.UNANSWERED)
        find, enter = self._kinds.get, self._pairing.waiting.append
        ordinal, place, user = framing.ordinal, framing.found, self.user
        at, end = 0, len(data)
        last = end - _SAME
        while at <= last:
            size, number, correlation_id = _REQUEST(data, at)
            behind = at + 4 + size
            kind = find(number)
            if kind is None or behind > end or size > FRAME_LIMIT:
                break
            key, version, client_id, same, reach, body, _, answered = kind
            if at + reach > behind or data[at + _SAME : at + reach] != same:
                break
            pending = Pending(correlation_id, key, version, client_id, size, ts, ts)
            pending.body = data[at + body : behind]
            if user:
                pending.user = user
            pending.packet = packet
            pending.ordinal = ordinal
            pending.request_place = place
            if answered:
                enter(pending)
            else:
                found.append(build_exchange(pending, self._link, unanswered))
            ordinal += 1
            place += 1
            at = behind
        framing.ordinal, framing.found = ordinal, place
        return found, at

    def responses(self, framing: Framing, chunk: Chunk) -> tuple[list[Exchange], int]:
        """Pair responses that come in the order of their requests; returns their exchanges."""
        found: list[Exchange] = []
        _, _, _, ts, data, _, packet = chunk
        pairing, waiting, find = self._pairing, self._pairing.waiting, self._kinds.get
        link = self._link
        place = framing.found
        at, end = 0, len(data)
        last = end - _LEAST
        while waiting and at <= last:
            size, correlation_id = _RESPONSE(data, at)
            behind = at + 4 + size
            pending = waiting[0]
            kind = find(pending.key << 16 | pending.version)
            if kind is None or behind > end or size > FRAME_LIMIT:
                break
            start = at + 8
            if kind.tagged:
                if data[start]:
                    break
                start += 1
            if pending.correlation_id != correlation_id or start > behind:
                break
            waiting.popleft()
            pending.begun, pairing.latest = pairing.latest, ts
            pending.response_place = place
            found.append(
                build_exchange(pending, link, Outcome(ts, ts, size, data[start:behind], packet))
            )
            place += 1
            at = behind
        framing.ordinal += place - framing.found
        framing.found = place
        return found, at
