"""The core of the bench's broker: bytes in, replies out; no sockets, no clock.

A broker is made anew for each session, and has as many connections as the client makes.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from barnabas.captures.kafka.framing.stream_framing import FRAME_LIMIT
from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.contexts.context import NO_CONTEXT, Context
from barnabas.fuzz.bench_broker.distortion import distorted
from barnabas.fuzz.bench_broker.offer import EVERYTHING, Offer, features
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.responses.default import default_response
from barnabas.fuzz.bench_broker.responses.fetch import empty, read_from, reads_committed
from barnabas.fuzz.bench_broker.responses.registry import RESPONSES
from barnabas.fuzz.bench_broker.responses.request import Request
from barnabas.fuzz.cases.case import Delivery
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.peers.recorded.api_versions import api_versions_response
from barnabas.specs.frames import Direction, RequestHead, Short, request_head
from barnabas.specs.headers import encode_header
from barnabas.specs.keys import API_VERSIONS, FETCH, SASL_HANDSHAKE, SHARE_FETCH
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

_ANSWERS: Final = dict(RESPONSES)
_SIZE: Final = struct.Struct(">i")
_BEHIND_ID: Final = 8
"""The offset behind a request's API key, version and correlation id."""
_POLLS: Final = (FETCH, SHARE_FETCH)
_BARE_HANDSHAKE: Final = struct.pack(">hh", SASL_HANDSHAKE, 0)
"""The beginning of a SaslHandshake v0, which a token without a header follows."""


class Reply(NamedTuple):
    """The bytes that are written to a connection for one request.

    Attributes:
        chunks: The bytes of each write.
        delivery: How the chunks are written.
        wait_ms: How long a broker would wait for records.
        closes: The connection is closed afterwards.
        case: The reply is the case's.
    """

    chunks: tuple[bytes, ...]
    delivery: Delivery = "whole"
    wait_ms: int = 0
    closes: bool = False
    case: bool = False


class ValidResponse(NamedTuple):
    """A valid response with its size; empty for a Produce without one.

    checksum: the CRC-32 of the request behind its correlation id.
    """

    key: int
    version: int
    answer: bytes
    checksum: int


KEPT: Final = 1000
"""Responses of a session that are kept."""

CLOSE: Final = Reply((), closes=True)
_WELCOME: Final = Reply((_SIZE.pack(0),))
"""The reply to a bare token: an empty one."""


@dataclass(slots=True)
class Broker:
    """The broker of a session: the cluster, the versions that it offers, and the case's response.

    Attributes:
        cluster: The state.
        offer: The versions.
        planted: The case's response; None in a valid session.
        context: The context of the session.
        request_counts: (API key, version) -> requests.
        given: The valid responses, KEPT at most, also the one that the case's replaced.
        last: A case of Fetch is the last response with records, so that the client gets no others.
        starts: Partition -> the offset from which it is read first after the case.
        read_to: Partition -> the highest offset from which it is read with read_committed.
        replaced: The valid response that the case's replaced first, with its size; empty if none.
    """

    cluster: Cluster = field(default_factory=Cluster)
    offer: Offer = field(default_factory=lambda: EVERYTHING)
    planted: PlantedResponse | None = None
    context: Context = NO_CONTEXT
    request_counts: Counter[tuple[int, int]] = field(default_factory=Counter)
    given: list[ValidResponse] = field(default_factory=list)
    last: bool = False
    starts: dict[int, int] = field(default_factory=dict)
    read_to: dict[int, int] = field(default_factory=dict)
    replaced: bytes = b""
    _answered: Counter[int] = field(default_factory=Counter)
    """API key -> valid responses."""
    _distorted: int = 0

    def __post_init__(self) -> None:
        self.context.arrange(self.cluster)

    def answer(self, frame: bytes) -> Reply | None:
        """Return the reply to a request (without its size); None for a Produce without a response."""
        try:
            head = request_head(frame, 0, len(frame))
        except (Short, Malformed):
            return CLOSE
        self.request_counts[head.key, head.version] += 1
        waits = not self._turns_are_over()
        valid = self._valid(
            head, frame
        )  # it has its effect, even if the case's response replaces it
        if len(self.given) < KEPT and valid != CLOSE:
            answer = valid.chunks[0] if valid else b""
            checksum = zlib.crc32(frame[_BEHIND_ID:])
            self.given.append(ValidResponse(head.key, head.version, answer, checksum))
        planted = self.planted
        if valid is None or planted is None or waits:
            return valid
        if planted.takes(head.key, head.version):
            self.replaced = self.replaced or b"".join(valid.chunks)
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
        request = Request(head.version, head.client_id or "", body)
        if head.key == FETCH:
            self._note_offsets(request)
        values = self._in_turn(head.key, self._values(head.key, request))
        if head.acks == 0:
            return None
        wait = body["max_wait_ms"] if head.key in _POLLS and empty(values) else 0
        return framed(head, self._body(head, values), wait)

    def _note_offsets(self, request: Request) -> None:
        """Note the offsets of a Fetch."""
        for partition, offset in read_from(request):
            if self.planted is not None and self.planted.served:
                self.starts.setdefault(partition, offset)
            if reads_committed(request):
                self.read_to[partition] = max(offset, self.read_to.get(partition, 0))

    def _turns_are_over(self) -> bool:
        """Return whether the changes before the case have been made."""
        return all(
            turn.ordinal is None or self._answered[turn.key] > turn.ordinal
            for turn in self.context.turns
        )

    def _in_turn(self, key: int, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of a response as the context changes them."""
        is_pending = self.planted is not None and not self.planted.served
        for turn in self.context.turns:
            is_due = turn.key == key and turn.ordinal in (None, self._answered[key])
            if is_due and (is_pending or not turn.until_case):
                values = turn.respond(self.cluster, values)
        self._answered[key] += 1
        return values

    def _body(self, head: RequestHead, values: dict[str, Any]) -> bytes:
        """Encode a response; one after the case may have a wrong value, which depends on the case alone."""
        planted = self.planted
        if planted is not None and planted.served and self.context.distorted:
            seed = f"together {planted.digest}"
            if self._distorted <= SeededRandom(seed, 0).below(self.context.distorted):
                self._distorted += 1
                layout = api(head.key).response.codec(head.version).layout
                dice = SeededRandom(seed, self._distorted)
                values = distorted(layout, layout.fitted(values), dice)
        return encoded(head.key, head.version, "response", values)

    def _values(self, key: int, request: Request) -> dict[str, Any]:
        respond = _ANSWERS.get(key)
        return (
            default_response(self.cluster, key, request)
            if respond is None
            else respond(self.cluster, request)
        )

    def _planted(self, planted: PlantedResponse, head: RequestHead) -> Reply:
        if self.last and head.key == FETCH:
            for log in self.cluster.logs:
                log.parts.clear()
        address = self.cluster.host, self.cluster.port
        chunks = planted.chunks(head.correlation_id, *address)
        delivery = planted.case.delivery
        if delivery == "burst":
            chunks = (b"".join(chunks),)
        return Reply(chunks, delivery, closes=delivery == "half_open", case=True)


@functools.lru_cache(maxsize=1024)
def _offered(version: int, offer: tuple[tuple[int, tuple[int, int]], ...]) -> bytes:
    """Return the body of an ApiVersions response; cached, since every session begins with it."""
    return api_versions_response(version, dict(offer), features(dict(offer)))


def framed(head: RequestHead, body: bytes, wait_ms: int = 0) -> Reply:
    """Return the reply to a request with this body."""
    header = encode_header("response", head.key, head.version, head.correlation_id)
    return Reply((_SIZE.pack(len(header) + len(body)) + header + body,), wait_ms=wait_ms)


class Responder(Protocol):
    """The broker that answers the requests of a connection."""

    def answer(self, frame: bytes) -> Reply | None:
        """Return the reply to a request (without its size); None if there is none, or none yet."""
        ...


class Connection:
    """One connection to a broker: splits the stream into requests."""

    def __init__(self, broker: Responder) -> None:
        self._broker = broker
        self._buffer = bytearray()
        self._closed = False
        self._token = False
        """Whether the next frame is a bare token (KIP-43)."""

    def receive(self, data: bytes) -> list[Reply]:
        """Return the replies to requests that are complete with this data; none after one that closes."""
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


def encoded(key: int, version: int, direction: Direction, values: Mapping[str, Any]) -> bytes:
    """Encode a body; values may have more fields than the version. Raises Unfit, LookupError.

    >>> encoded(12, 0, "response", {"throttle_time_ms": 0, "error_code": 27}).hex()
    '001b'
    """
    codec = api(key).message(direction).codec(version)
    return codec.encode(codec.layout.fitted(values))
