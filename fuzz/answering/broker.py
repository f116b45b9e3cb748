"""The core: a broker in a valid state. Bytes in, replies out; no sockets, no clock.

One broker is one session: it is made anew for each case, and has as many connections as the client makes.
"""

from __future__ import annotations

import functools
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.answers.fetch import empty, read_from
from barnabas.fuzz.answering.answers.otherwise import otherwise
from barnabas.fuzz.answering.answers.registry import ANSWERS
from barnabas.fuzz.answering.cluster import Cluster
from barnabas.fuzz.answering.fitting import encoded
from barnabas.fuzz.answering.offer import EVERYTHING, Offer, features
from barnabas.fuzz.answering.planted import Planted
from barnabas.fuzz.cases.case import Delivery
from barnabas.peers.recorded.offered import offered
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.headers import encode_header
from barnabas.specs.keys import API_VERSIONS, FETCH, SASL_HANDSHAKE, SHARE_FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

_ANSWERS: Final = dict(ANSWERS)
_SIZE: Final = struct.Struct(">i")
_POLLS: Final = (FETCH, SHARE_FETCH)
_BARE_HANDSHAKE: Final = struct.pack(">hh", SASL_HANDSHAKE, 0)
"""How a SaslHandshake v0 begins: what comes behind it is a token without a header."""


class Reply(NamedTuple):
    """What goes back on a connection, behind what went before it.

    chunks: written one by one. wait_ms: how long a broker would wait with it for records to come.
    closes: nothing comes behind it. case: whether it is the case's answer.
    """

    chunks: tuple[bytes, ...]
    delivery: Delivery = "whole"
    wait_ms: int = 0
    closes: bool = False
    case: bool = False


class Given(NamedTuple):
    """A valid answer, its size in front; nothing to a Produce that wants none."""

    key: int
    version: int
    answer: bytes


KEPT: Final = 1000
"""Answers of a session that are kept."""

CLOSE: Final = Reply((), closes=True)
_WELCOME: Final = Reply((_SIZE.pack(0),))
"""To a bare token: an empty one."""


@dataclass(slots=True)
class Broker:
    """What is behind all connections of a session: the cluster, what is offered, and the case's answer.

    asked: (API key, version) -> how many requests there were. given: the valid answers, KEPT at most, also
    that in whose place the case's was put. last: whether a case of Fetch is the last answer with records, so
    that a client has none but its. starts: partition -> where it is read from first behind the case.
    """

    cluster: Cluster = field(default_factory=Cluster)
    offer: Offer = field(default_factory=lambda: EVERYTHING)
    planted: Planted | None = None
    asked: Counter[tuple[int, int]] = field(default_factory=Counter)
    given: list[Given] = field(default_factory=list)
    last: bool = False
    starts: dict[int, int] = field(default_factory=dict)

    def answer(self, frame: bytes) -> Reply | None:
        """The reply to a request (without its size); None for a Produce that wants none."""
        try:
            head = request_head(frame, 0, len(frame))
        except (Short, Malformed):
            return CLOSE
        self.asked[head.key, head.version] += 1
        valid = self._valid(
            head, frame
        )  # also where another is put in its place: it has its effect
        if len(self.given) < KEPT and valid != CLOSE:
            self.given.append(Given(head.key, head.version, valid.chunks[0] if valid else b""))
        planted = self.planted
        if valid is not None and planted is not None and planted.takes(head.key, head.version):
            return self._planted(planted, head)
        return valid

    def _valid(self, head: RequestHead, frame: bytes) -> Reply | None:
        if head.key == API_VERSIONS:
            return framed(head, _offered(head.version, tuple(self.offer.items())))
        low, high = self.offer.get(head.key, (0, -1))
        if not low <= head.version <= high:
            return CLOSE
        try:
            body = api(head.key).request.codec(head.version).decode(frame[head.body :])
        except Malformed:
            return CLOSE
        ask = Ask(head.version, head.client_id or "", body)
        if head.key == FETCH and self.planted is not None and self.planted.served:
            for partition, offset in read_from(ask):
                self.starts.setdefault(partition, offset)
        values = self._values(head.key, ask)
        if head.acks == 0:
            return None
        wait = body["max_wait_ms"] if head.key in _POLLS and empty(values) else 0
        return framed(head, encoded(head.key, head.version, "response", values), wait)

    def _values(self, key: int, ask: Ask) -> dict[str, Any]:
        found = _ANSWERS.get(key)
        return otherwise(self.cluster, key, ask) if found is None else found(self.cluster, ask)

    def _planted(self, planted: Planted, head: RequestHead) -> Reply:
        if self.last and head.key == FETCH:
            for log in self.cluster.logs:
                log.parts.clear()
        where = self.cluster.host, self.cluster.port
        chunks = planted.chunks(head.correlation_id, *where)
        delivery = planted.case.delivery
        if delivery == "burst":
            chunks = (b"".join(chunks),)
        return Reply(chunks, delivery, closes=delivery == "half_open", case=True)


@functools.lru_cache(maxsize=1024)
def _offered(version: int, offer: tuple[tuple[int, tuple[int, int]], ...]) -> bytes:
    """Every session of every case begins with it."""
    return offered(version, dict(offer), features(dict(offer)))


def framed(head: RequestHead, body: bytes, wait_ms: int = 0) -> Reply:
    """The reply with this body to a request."""
    header = encode_header("response", head.key, head.version, head.correlation_id)
    return Reply((_SIZE.pack(len(header) + len(body)) + header + body,), wait_ms=wait_ms)


class Answering(Protocol):
    """What is behind a connection."""

    def answer(self, frame: bytes) -> Reply | None:
        """The reply to a request (without its size); None where there is none, or none yet."""
        ...


class Connection:
    """One connection to a broker: takes the stream apart."""

    def __init__(self, broker: Answering) -> None:
        self._broker = broker
        self._buffer = bytearray()
        self._closed = False
        self._token = False
        """Whether the next frame is a bare token (KIP-43)."""

    def receive(self, data: bytes) -> list[Reply]:
        """The replies to what is complete with this. Nothing more after one that closes."""
        if self._closed:
            return []
        self._buffer += data
        replies = []
        while not self._closed and len(self._buffer) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._buffer)
            if not 8 <= size <= FRAME_LIMIT:
                reply: Reply | None = CLOSE
            elif len(self._buffer) < _SIZE.size + size:
                break
            else:
                frame = bytes(self._buffer[_SIZE.size : _SIZE.size + size])
                del self._buffer[: _SIZE.size + size]
                reply = _WELCOME if self._token else self._broker.answer(frame)
                self._token = not self._token and frame.startswith(_BARE_HANDSHAKE)
            if reply is not None:
                replies.append(reply)
                self._closed = reply.closes
        return replies
