"""What the bytes of a case ask of a broker: its whole requests, and what stands behind the last one."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from barnabas.specs.frames import Short, request_head
from barnabas.specs.keys import PRODUCE
from barnabas.specs.malformed import Malformed

REQUEST_LIMIT: Final = 100 << 20
"""Kafka's socket.request.max.bytes: a broker closes on a larger size, and on a negative one."""

_REMEMBERED: Final = 64 << 10
"""Bytes at most of a case whose question is remembered: a target, its second looks and oracles all ask it."""

_SIZE: Final = struct.Struct(">i")
_HEAD: Final = struct.Struct(">hhi")

Rest = Literal["", "partial", "nonsense"]
"""What stands behind the last whole request: nothing, the beginning of another one (a broker may wait
for the rest as long as it likes), or a size that no request has (it must close)."""


class Asked(NamedTuple):
    """A whole request as a broker takes it out of the stream; key -1: too short to say. `answered`: a
    response is due, or an end of the connection in its place. acks: of Produce, if it can be read."""

    key: int
    version: int
    correlation_id: int
    answered: bool
    acks: int | None = None


class Question(NamedTuple):
    """What some bytes ask."""

    requests: tuple[Asked, ...]
    rest: Rest
    answers: int
    """Responses that are due."""

    @property
    def untold(self) -> bool:
        """Whether a request has no answer, not even that it is refused (acks 0): a busy broker may close on
        it when the connection's next case is under way, and seems to close on that."""
        return not all(one.answered for one in self.requests)


def question(chunks: Sequence[bytes]) -> Question:
    r"""What a broker makes of the bytes of a case.

    >>> question((bytes.fromhex("0000000a 0003 0001 00000007 ffff"),)).requests
    (Asked(key=3, version=1, correlation_id=7, answered=True, acks=None),)
    >>> question((b"\x00\x00\x00\x0a\x00",)).rest, question((b"\xff\xff\xff\xff",)).rest
    ('partial', 'nonsense')
    """
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    return _question(data) if len(data) <= _REMEMBERED else _question.__wrapped__(data)


@lru_cache(maxsize=1024)
def _question(data: bytes) -> Question:
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
        asked = _asked(data, at, at + size)
        answers += asked.answered
        requests.append(asked)
        at += size
    return Question(tuple(requests), rest, answers)


def _asked(data: bytes, start: int, end: int) -> Asked:
    if end - start < 8:
        return Asked(-1, -1, -1, True)
    key, version, correlation_id = _HEAD.unpack_from(data, start)
    acks = _acks(data, start, end) if key == PRODUCE else None
    return Asked(key, version, correlation_id, acks != 0, acks)


def _acks(data: bytes, start: int, end: int) -> int | None:
    try:
        return request_head(data, start, end).acks
    except (Short, Malformed):
        return None
