"""A client's side of one connection, sans-IO: encodes requests, pairs and decodes responses.

A broker answers a connection's requests in their order: answers are paired first in, first out, and
the correlation id is the check. Produce with acks=0 has no answer.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.headers import request_header_version
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

FRAME_LIMIT: Final = 100 << 20
"""Bytes of the largest answer."""

_SIZE: Final = struct.Struct(">i")


class ProtocolError(ConnectionError):
    """The broker answers what was not asked, or with bytes that are no answer: nothing behind them counts."""


class Question(NamedTuple):
    """A request that waits for its answer. note: whatever who asked wants back with the answer."""

    key: int
    version: int
    correlation_id: int
    note: Any


class Answer(NamedTuple):
    """A decoded response, and what it answers."""

    question: Question
    body: dict[str, Any]


class Dialogue:
    """Requests and answers of one connection.

    >>> dialogue = Dialogue("me")
    >>> dialogue.ask(3, 0, {"topics": []}).hex(" ", -4)
    '00000010 00030000 00000000 00026d65 00000000'
    >>> dialogue.feed(bytes.fromhex("0000000c 00000000 00000000 00000000"))
    >>> [answer.body for answer in dialogue.answers()]
    [{'brokers': [], 'topics': []}]
    """

    def __init__(self, client_id: str, *, frame_limit: int = FRAME_LIMIT) -> None:
        self.waiting: deque[Question] = deque()
        """What is not answered yet, the oldest first."""
        self._client_id = client_id
        self._frame_limit = frame_limit
        self._next = 0
        self._received = bytearray()

    def ask(
        self,
        key: int,
        version: int,
        values: Mapping[str, Any],
        *,
        answered: bool = True,
        note: Any = None,
    ) -> bytes:
        """The bytes of a request. answered: whether an answer will come. Raises specs.codec.Unfit."""
        header: dict[str, Any] = {
            "request_api_key": key,
            "request_api_version": version,
            "correlation_id": self._next,
        }
        if request_header_version(key, version):
            header["client_id"] = self._client_id
        data = encode_frame(Frame("request", key, version, header, dict(values)))
        if answered:
            self.waiting.append(Question(key, version, self._next, note))
        self._next = (self._next + 1) & 0x7FFFFFFF
        return data

    def feed(self, data: bytes) -> None:
        """Take bytes that came; `answers` says what is whole by now."""
        self._received += data

    def answers(self) -> Iterator[Answer]:
        """The answers that are whole. Raises ProtocolError behind the last good one."""
        while len(self._received) >= _SIZE.size:
            (size,) = _SIZE.unpack_from(self._received)
            if not 4 <= size <= self._frame_limit:
                raise ProtocolError(f"the broker sends a frame of {size} bytes")
            if len(self._received) < _SIZE.size + size:
                return
            frame = bytes(self._received[_SIZE.size : _SIZE.size + size])
            del self._received[: _SIZE.size + size]
            yield self._answer(frame)

    def _answer(self, frame: bytes) -> Answer:
        found = int.from_bytes(frame[:4], "big", signed=True)
        if not self.waiting:
            raise ProtocolError(f"the broker answers request {found}, and nothing was asked")
        question = self.waiting[0]
        if found != question.correlation_id:
            raise ProtocolError(
                f"the broker answers request {found}, and {question.correlation_id} is the next one"
            )
        try:
            body = decode_frame(frame, "response", key=question.key, version=question.version).body
        except Malformed as problem:
            raise ProtocolError(f"a {NAMES[question.key]} response: {problem}") from None
        return Answer(self.waiting.popleft(), body)
