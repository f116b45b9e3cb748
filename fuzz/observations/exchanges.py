"""The exchanges of an observation: each request that was sent, with its response."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from barnabas.fuzz.cases.observation import KEPT_LIMIT, REPLY_LIMIT, Observation
from barnabas.fuzz.observations.requests import RequestStream, SentRequest, parse_requests
from barnabas.specs.frames import Short, request_head, response_body
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

REMEMBERED: Final = 4 << 10
"""Bytes of the largest response that is cached: most are equal except for the correlation id."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request that a response is due to, with the response.

    Attributes:
        head: The request's header fields.
        request: The request's frame.
        reply: The response's frame; None if none came.
        cut: The response may be longer than what was kept of it.
    """

    head: SentRequest
    request: bytes
    reply: bytes | None
    cut: bool = False

    @property
    def has_layout(self) -> bool:
        """Return whether the layout of the API's version is known."""
        key, version = self.head.key, self.head.version
        if key not in NAMES:
            return False
        low, high = api(key).versions
        return low <= version <= high


def pair_responses(observation: Observation) -> tuple[RequestStream, tuple[Exchange, ...]]:
    """Return the requests of an observation, and the exchanges, first in, first out."""
    stream = parse_requests(observation.sent)
    data = b"".join(observation.sent)
    exchanges = []
    at = retained = 0
    replies = iter(observation.replies)
    for head in stream.requests:
        size = int.from_bytes(data[at : at + 4])
        frame = data[at + 4 : at + 4 + size]
        at += 4 + size
        if head.answered:
            reply = next(replies, None)
            length = len(reply or b"")
            retained += length
            cut = length >= REPLY_LIMIT or retained >= KEPT_LIMIT
            exchanges.append(Exchange(head, frame, reply, cut))
    return stream, tuple(exchanges)


def wrong_request(request: bytes, head: SentRequest) -> Malformed | None:
    """Return why no layout reads a request of a known API and version; None if one does.

    A negative number of tags is read as none: Kafka's generated readers count up to it, in signed 32 bits.
    """
    while True:
        problem = _wrong_request(request, head)
        at = _countless(request, problem) if problem is not None else None
        if at is None:
            return problem
        request = request[:at] + b"\0" + request[at + 5 :]


def _countless(request: bytes, problem: Malformed) -> int | None:
    """Return the offset of a negative number of tags, if that is the problem."""
    try:
        head = request_head(request, 0, len(request)).body
    except Malformed:  # the header ends within the tags after the client id
        at = 10 + max(int.from_bytes(request[8:10], "big", signed=True), 0)
        return at if _negative(request, at) else None
    except Short:
        return None
    if "tagged fields" not in problem.reason:
        return None
    places = (head + problem.offset, head + problem.offset - 5)
    return next((at for at in places if _negative(request, at)), None)


def _negative(request: bytes, at: int) -> bool:
    """Return whether an unsigned varint here has the highest of 32 bits set, which takes five bytes."""
    text = request[at : at + 5]
    return len(text) == 5 and min(text[:4]) > 0x7F and text[4] & 0x88 == 8


def _wrong_request(request: bytes, sent: SentRequest) -> Malformed | None:
    try:
        head = request_head(request, 0, len(request))
        api(sent.key).request.codec(sent.version).decode(request[head.body :])
    except Short:
        return Malformed("header", len(request), "the header is cut off")
    except Malformed as problem:
        return problem
    return None


def response_body_of(exchange: Exchange) -> dict[str, Any]:
    """Return the body of a response; it may be shared and must not be changed. Raises Malformed.

    An ApiVersions request of a version that the broker lacks is answered in v0 (KIP-511).
    """
    reply, key, version = exchange.reply or b"", exchange.head.key, exchange.head.version
    if len(reply) < 4:
        raise Malformed("header", len(reply), "the header is cut off")
    body = reply[response_body(reply, key, version) :]
    if key == API_VERSIONS and body[:2] == b"\x00\x23":
        version = 0
    return (_read if len(body) <= REMEMBERED else _read.__wrapped__)(body, key, version)


@lru_cache(maxsize=1024)
def _read(body: bytes, key: int, version: int) -> dict[str, Any]:
    codec = api(key).response.codec(version)
    regular = codec.regular(body)
    if regular is not None:
        return regular
    decoded, oddities = codec.inspect(body)
    trailing = next((oddity for oddity in oddities if "trailing" in oddity.what), None)
    if trailing is not None:
        raise Malformed("", trailing.offset, trailing.what)
    return decoded


def unknown_error_paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths, without indices, of error codes that are -1.

    >>> list(unknown_error_paths({"topics": [{"error_code": -1}, {"error_code": 3}], "error_code": 0}))
    ['topics.error_code']
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            at = f"{path}.{name}" if path else name
            if name.endswith("error_code"):
                if inner == -1:
                    yield at
            else:
                yield from unknown_error_paths(inner, at)
    elif isinstance(value, list):
        for inner in value:
            yield from unknown_error_paths(inner, path)
