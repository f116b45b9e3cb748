"""The requests in the bytes of a case as a broker reads them, and what follows the last whole one."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from barnabas.specs.frames import Short, request_head
from barnabas.specs.keys import PRODUCE
from barnabas.specs.malformed import Malformed

REQUEST_LIMIT: Final = 100 << 20
"""Kafka's socket.request.max.bytes: a broker closes the connection on a larger size, and on a negative
one."""

_REMEMBERED: Final = 64 << 10
"""Bytes of the largest case whose requests are cached: a target, its second looks and oracles all need
them."""

_SIZE: Final = struct.Struct(">i")
_HEAD: Final = struct.Struct(">hhi")

Rest = Literal["", "partial", "nonsense"]
"""What follows the last whole request: nothing, the beginning of another one (a broker may wait for the
rest), or an impossible size (it must close the connection)."""


class SentRequest(NamedTuple):
    """A whole request as a broker takes it out of the stream.

    Attributes:
        key: The API key; -1 for a request that is too short.
        version: The version.
        correlation_id: The correlation id.
        answered: A response is due, or the end of the connection instead.
        acks: The acks of a Produce, if they can be read.
    """

    key: int
    version: int
    correlation_id: int
    answered: bool
    acks: int | None = None


class RequestStream(NamedTuple):
    """The requests in some bytes."""

    requests: tuple[SentRequest, ...]
    rest: Rest
    answers: int
    """Responses that are due."""

    @property
    def untold(self) -> bool:
        """Return whether a request gets no response, not even a refusal (acks 0).

        A busy broker may then close the connection while the next case is in flight, and seem to close it
        because of that case.
        """
        return not all(request.answered for request in self.requests)


def parse_requests(chunks: Sequence[bytes]) -> RequestStream:
    r"""Split the bytes of a case into requests, as a broker does.

    >>> parse_requests((bytes.fromhex("0000000a 0003 0001 00000007 ffff"),)).requests
    (SentRequest(key=3, version=1, correlation_id=7, answered=True, acks=None),)
    >>> parse_requests((b"\x00\x00\x00\x0a\x00",)).rest, parse_requests((b"\xff\xff\xff\xff",)).rest
    ('partial', 'nonsense')
    """
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    return _question(data) if len(data) <= _REMEMBERED else _question.__wrapped__(data)


@lru_cache(maxsize=1024)
def _question(data: bytes) -> RequestStream:
    at, end, answers = 0, len(data), 0
    requests = []
    rest: Rest = ""
    while at < end:
        if at + 4 > end:
            rest = "partial"
            break
        (size,) = _SIZE.unpack_from(data, at)
        if not 0 <= size <= REQUEST_LIMIT:
            rest = "nonsense"
            break
        at += 4
        if at + size > end:
            rest = "partial"
            break
        request = _asked(data, at, at + size)
        answers += request.answered
        requests.append(request)
        at += size
    return RequestStream(tuple(requests), rest, answers)


def _asked(data: bytes, start: int, end: int) -> SentRequest:
    if end - start < 8:
        return SentRequest(-1, -1, -1, True)
    key, version, correlation_id = _HEAD.unpack_from(data, start)
    acks = _acks(data, start, end) if key == PRODUCE else None
    return SentRequest(key, version, correlation_id, acks != 0, acks)


def _acks(data: bytes, start: int, end: int) -> int | None:
    try:
        return request_head(data, start, end).acks
    except (Short, Malformed):
        return None
