"""Pair the frames of chunks without comments: the fast path of pairing.

Each method also returns the offset in the chunk where it stopped, and leaves the rest to the careful path in
`conversation`: an incomplete frame, a request that begins with other bytes than the last one of its API and
version, a response out of order. The careful path builds the same exchanges from all frames.
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
"""Bytes before those that requests of one API and version have in common."""
_LEAST: Final = 9
"""Bytes of a response that show where its body begins."""


class _RequestHead(NamedTuple):
    """A request head: requests of this API and version that begin with the same bytes have the same head."""

    key: int
    version: int
    client_id: str | None
    same: bytes
    reach: int
    """The end of these bytes in a frame with its size."""
    body: int
    """The offset of the body in a frame with its size."""
    tagged: bool
    """Whether the header of the response may have tags."""
    expects_response: bool
    """False for Produce with acks=0."""


class FastPairing:
    """The state of the fast path for one connection."""

    __slots__ = ("_heads", "_link", "_pairing", "user")

    def __init__(self, link: Link, pairing: Pairing) -> None:
        self._link = link
        self._pairing = pairing
        self._heads: dict[int, _RequestHead] = {}
        self.user: str | None = None
        """The authenticated user."""

    def learn(self, frame: bytes, head: RequestHead) -> None:
        """Learn the head of a request, so that requests that begin alike take the fast path."""
        reach = reach_of_head(frame, head)
        if reach is None:
            return
        self._heads[head.key << 16 | head.version] = _RequestHead(
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
        """Add requests to the requests in flight; return the exchanges of requests that get no response."""
        exchanges: list[Exchange] = []
        _, _, _, ts, data, _, packet = chunk
        unanswered = Outcome(note=notes.UNANSWERED)
        find, enter = self._heads.get, self._pairing.waiting.append
        ordinal, index, user = framing.ordinal, framing.frame_count, self.user
        at, end = 0, len(data)
        last = end - _SAME
        while at <= last:
            size, number, correlation_id = _REQUEST(data, at)
            frame_end = at + 4 + size
            head = find(number)
            if head is None or frame_end > end or size > FRAME_LIMIT:
                break
            key, version, client_id, same, reach, body, _, expects_response = head
            if at + reach > frame_end or data[at + _SAME : at + reach] != same:
                break
            pending = Pending(correlation_id, key, version, client_id, size, ts, ts)
            pending.body = data[at + body : frame_end]
            if user:
                pending.user = user
            pending.packet = packet
            pending.ordinal = ordinal
            pending.request_place = index
            if expects_response:
                enter(pending)
            else:
                exchanges.append(build_exchange(pending, self._link, unanswered))
            ordinal += 1
            index += 1
            at = frame_end
        framing.ordinal, framing.frame_count = ordinal, index
        return exchanges, at

    def responses(self, framing: Framing, chunk: Chunk) -> tuple[list[Exchange], int]:
        """Pair responses that arrive in request order; return their exchanges."""
        exchanges: list[Exchange] = []
        _, _, _, ts, data, _, packet = chunk
        pairing, waiting, find = self._pairing, self._pairing.waiting, self._heads.get
        link = self._link
        index = framing.frame_count
        at, end = 0, len(data)
        last = end - _LEAST
        while waiting and at <= last:
            size, correlation_id = _RESPONSE(data, at)
            frame_end = at + 4 + size
            pending = waiting[0]
            head = find(pending.key << 16 | pending.version)
            if head is None or frame_end > end or size > FRAME_LIMIT:
                break
            start = at + 8
            if head.tagged:
                if data[start]:
                    break
                start += 1
            if pending.correlation_id != correlation_id or start > frame_end:
                break
            waiting.popleft()
            pending.begun, pairing.latest = pairing.latest, ts
            pending.response_place = index
            exchanges.append(
                build_exchange(pending, link, Outcome(ts, ts, size, data[start:frame_end], packet))
            )
            index += 1
            at = frame_end
        framing.ordinal += index - framing.frame_count
        framing.frame_count = index
        return exchanges, at
