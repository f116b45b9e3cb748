"""A client's side of one connection, sans-IO: encodes requests, pairs and decodes responses.

A broker answers the requests of a connection in order, so responses are paired first in, first out. The
correlation id is a check. Produce with acks=0 has no response.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.headers import request_header_version
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES

FRAME_LIMIT: Final = 100 << 20
"""Bytes of the largest response."""


class ProtocolError(ConnectionError):
    """A response that can't be read or answers no request; nothing after it can be paired."""


class Question(NamedTuple):
    """A request that waits for its response. note: any value that the caller wants back with it."""

    key: int
    version: int
    correlation_id: int
    note: Any


class Answer(NamedTuple):
    """A decoded response, and its request."""

    question: Question
    body: dict[str, Any]


class Dialogue:
    """Requests and responses of one connection.

    >>> dialogue = Dialogue("me")
    >>> dialogue.ask(3, 0, {"topics": []}).hex(" ", -4)
    '00000010 00030000 00000000 00026d65 00000000'
    >>> dialogue.feed(bytes.fromhex("0000000c 00000000 00000000 00000000"))
    >>> [answer.body for answer in dialogue.answers()]
    [{'brokers': [], 'topics': []}]
    """

    def __init__(self, client_id: str) -> None:
        self.waiting: deque[Question] = deque()
        """Requests without a response, the oldest first."""
        self._client_id = client_id
        self._next_id = 0
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
        """Encode a request. answered: whether it has a response. Raises specs.codec.Unfit."""
        header: dict[str, Any] = {
            "request_api_key": key,
            "request_api_version": version,
            "correlation_id": self._next_id,
        }
        if request_header_version(key, version):
            header["client_id"] = self._client_id
        data = encode_frame(Frame("request", key, version, header, dict(values)))
        if answered:
            self.waiting.append(Question(key, version, self._next_id, note))
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF
        return data

    def feed(self, data: bytes) -> None:
        """Take received bytes; `answers` yields the responses in them."""
        self._received += data

    def answers(self) -> Iterator[Answer]:
        """Yield complete responses. Raises ProtocolError after the last good one."""
        while len(self._received) >= 4:
            size = int.from_bytes(self._received[:4], "big", signed=True)
            if not 4 <= size <= FRAME_LIMIT:
                raise ProtocolError(f"the broker sends a frame of {size} bytes")
            if len(self._received) < 4 + size:
                return
            frame = bytes(self._received[4 : 4 + size])
            del self._received[: 4 + size]
            yield self._answer(frame)

    def _answer(self, frame: bytes) -> Answer:
        answered = int.from_bytes(frame[:4], "big", signed=True)
        if not self.waiting:
            raise ProtocolError(f"the broker answers request {answered}, and nothing was asked")
        key, version, expected, _ = self.waiting[0]
        if answered != expected:
            raise ProtocolError(
                f"the broker answers request {answered}, and {expected} is the next one"
            )
        try:
            body = decode_frame(frame, "response", key=key, version=version).body
        except Malformed as problem:
            raise ProtocolError(f"a {NAMES[key]} response: {problem}") from None
        return Answer(self.waiting.popleft(), body)
