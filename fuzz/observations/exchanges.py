"""An observation of a broker, read: each request it was sent beside the response that it gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from barnabas.fuzz.cases.observation import KEPT_LIMIT, REPLY_LIMIT, Observation
from barnabas.fuzz.observations.requests import Asked, Question, question
from barnabas.specs.frames import Short, request_head, response_body
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

REMEMBERED: Final = 4 << 10
"""Bytes at most of a response that is remembered: most are the same again but for the correlation id."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A request that an answer was due to. reply: the frame; None where none came.
    version: of the response's layout, which for ApiVersions is 0 if the broker lacks the request's.
    cut: it may be longer than what of it was kept, which may be nothing."""

    asked: Asked
    request: bytes
    reply: bytes | None
    cut: bool = False

    @property
    def known(self) -> bool:
        """Whether we have the layout of both."""
        key, version = self.asked.key, self.asked.version
        if key not in NAMES:
            return False
        low, high = api(key).versions
        return low <= version <= high


def exchanged(observation: Observation) -> tuple[Question, tuple[Exchanged, ...]]:
    """What was asked, and the requests that were due an answer with theirs, first in, first out."""
    asked = question(observation.sent)
    data = b"".join(observation.sent)
    found = []
    at = kept = 0
    replies = iter(observation.replies)
    for one in asked.requests:
        size = int.from_bytes(data[at : at + 4])
        frame = data[at + 4 : at + 4 + size]
        at += 4 + size
        if one.answered:
            reply = next(replies, None)
            length = len(reply or b"")
            kept += length
            cut = length >= REPLY_LIMIT or kept >= KEPT_LIMIT
            found.append(Exchanged(one, frame, reply, cut))
    return asked, tuple(found)


def wrong_request(request: bytes, asked: Asked) -> Malformed | None:
    """Why no layout reads a request of a known API and version; None if one does.

    A number of tags below zero is read as none: Kafka's generated readers count up to it, in 32 bits with a
    sign. Nothing is forbidden that could be told from that.
    """
    while True:
        problem = _wrong_request(request, asked)
        at = _countless(request, problem) if problem is not None else None
        if at is None:
            return problem
        request = request[:at] + b"\0" + request[at + 5 :]


def _countless(request: bytes, problem: Malformed) -> int | None:
    """Where the number of tags stands that is below zero, if that is the problem."""
    try:
        head = request_head(request, 0, len(request)).body
    except Malformed:  # it ends in the tags behind the client id
        at = 10 + max(int.from_bytes(request[8:10], "big", signed=True), 0)
        return at if _negative(request, at) else None
    except Short:
        return None
    if "tagged fields" not in problem.reason:
        return None
    places = (head + problem.offset, head + problem.offset - 5)
    return next((at for at in places if _negative(request, at)), None)


def _negative(request: bytes, at: int) -> bool:
    """Whether an unsigned varint with the highest of 32 bits stands here: it takes five bytes."""
    text = request[at : at + 5]
    return len(text) == 5 and min(text[:4]) > 0x7F and text[4] & 0x88 == 8


def _wrong_request(request: bytes, asked: Asked) -> Malformed | None:
    try:
        head = request_head(request, 0, len(request))
        api(asked.key).request.codec(asked.version).decode(request[head.body :])
    except Short:
        return Malformed("header", len(request), "the header is cut off")
    except Malformed as problem:
        return problem
    return None


def answer(one: Exchanged) -> dict[str, Any]:
    """The body of a response, which others may have, too. Raises Malformed.

    An ApiVersions request of a version that the broker lacks is answered in v0 (KIP-511).
    """
    reply, key, version = one.reply or b"", one.asked.key, one.asked.version
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
    found, odd = codec.inspect(body)
    trailing = next((one for one in odd if "trailing" in one.what), None)
    if trailing is not None:
        raise Malformed("", trailing.offset, trailing.what)
    return found


def minus_ones(value: Any, path: str = "") -> Iterator[str]:
    """The paths, without indices, of error codes that are -1.

    >>> list(minus_ones({"topics": [{"error_code": -1}, {"error_code": 3}], "error_code": 0}))
    ['topics.error_code']
    """
    if isinstance(value, dict):
        for name, inner in value.items():
            at = f"{path}.{name}" if path else name
            if name.endswith("error_code"):
                if inner == -1:
                    yield at
            else:
                yield from minus_ones(inner, at)
    elif isinstance(value, list):
        for inner in value:
            yield from minus_ones(inner, path)
