"""Pairs the requests and responses of a connection on which a dialect is spoken.

A dialect names its class (`barnabas.specs.dialects.dialect.Dialect.pairing`). `CorrelationPairing` serves all
whose headers have a correlation id.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from barnabas.plugins import make
from barnabas.specs.dialect_frames import read_header
from barnabas.specs.dialects import Dialect
from barnabas.specs.dialects.keys import error_in, own_key
from barnabas.specs.frames import Direction, Short, request_head
from barnabas.specs.headers import RESPONSE_HEADER
from barnabas.specs.malformed import Malformed
from barnabas.specs.message import Message
from barnabas.specs.registry import NAMES, api


@dataclass(slots=True, eq=False)
class Asked:
    """A request. Two requests are never equal."""

    side: Direction
    """The sender: "request" for the client, "response" for what it has connected to."""
    api: str
    key: int
    """The key of the API, as `barnabas.specs.dialects.keys` has it."""
    version: int
    correlation_id: int
    """The correlation id of the header; a running number where there is none."""
    client_id: str | None
    body: bytes
    answered: bool = True
    """Whether a response follows: none does after a Produce with acks=0."""
    reason: Any = None
    """Whatever the caller wants to find again with the response."""


class Answer(NamedTuple):
    """A response, and the request that it answers."""

    asked: Asked
    body: bytes
    error: str
    """The name of the error in the header. Errors in bodies are not read."""


class Pairing(Protocol):
    """The state of one connection. Frames are whole, without their size."""

    client: str | None
    """The client id; where headers have none, the id that the client gave itself in a body."""
    waiting: dict[Direction, deque[Asked]]
    """Requests without a response so far, by sender."""

    def frame(self, direction: Direction, data: bytes) -> Asked | Answer:
        """Read a frame. Raises Malformed, or LookupError for a response without a request."""

    def forget(self, asked: Asked) -> None:
        """Forget a request that is not forwarded: no response follows."""

    def response(self, asked: Asked, body: bytes) -> dict[str, Any]:
        """Decode the body of a response. Raises Malformed."""


def pairing_of(dialect: Dialect) -> Pairing:
    """Return the pairing of a new connection. Raises Trouble if the dialect's class is unusable."""
    found: Pairing = make(f"dialect {dialect.name}", dialect.pairing, dialect)
    return found


@dataclass(slots=True)
class CorrelationPairing:
    """Clients send requests; a response has the correlation id of its request in the header.

    The connection may carry the Kafka APIs that the dialect allows. If the responses of some APIs have other
    headers, several requests may fit a response: the first one whose response decodes is taken.
    """

    dialect: Dialect
    client: str | None = None
    waiting: dict[Direction, deque[Asked]] = field(default_factory=lambda: {"request": deque()})

    def frame(self, direction: Direction, data: bytes) -> Asked | Answer:
        """Read a frame. Raises Malformed, or LookupError for a response without a request."""
        if direction == "response":
            return self._answer(data)
        if self.dialect.has_kafka_headers:
            asked = self._kafka_request(data)
        elif int.from_bytes(data[:2], signed=True) in self.dialect.kafka_apis:
            asked = kafka_request(data)
        else:
            asked = self._request(data)
        self.client = asked.client_id
        if asked.answered:
            self.waiting["request"].append(asked)
        return asked

    def forget(self, asked: Asked) -> None:
        """Forget a request that is not forwarded: no response follows."""
        if asked.answered:
            self.waiting["request"].remove(asked)

    def response(self, asked: Asked, body: bytes) -> dict[str, Any]:
        """Decode the body of a response. Raises Malformed."""
        return api(asked.key).response.codec(asked.version).decode(body)

    def _kafka_request(self, data: bytes) -> Asked:
        asked = kafka_request(data)
        for one in self.dialect.apis:
            if (one.key, one.version) == (asked.key, asked.version):
                asked.key, asked.api = own_key(self.dialect, one), one.name
        return asked

    def _request(self, data: bytes) -> Asked:
        dialect = self.dialect
        header, body = read_header(dialect.request_header, data)
        one = dialect.api(header[dialect.key_field])
        return Asked(
            "request",
            one.name,
            own_key(dialect, one),
            one.version if dialect.version_field is None else header[dialect.version_field],
            header["correlation_id"],
            header.get("client_id", self.client),
            body,
        )

    def _answer(self, data: bytes) -> Answer:
        headers: dict[str, tuple[dict[str, Any], bytes]] = {}
        matching: list[tuple[Asked, Message]] = []
        for asked in self.waiting["request"]:
            message = RESPONSE_HEADER
            if asked.key not in NAMES:
                message = self.dialect.response_header_of(self.dialect.api(asked.api))
            if message.name not in headers:
                headers[message.name] = read_header(message, data)
            if headers[message.name][0]["correlation_id"] == asked.correlation_id:
                matching.append((asked, message))
        if len(matching) > 1:  # APIs whose responses have different headers
            matching = [
                (asked, message)
                for asked, message in matching
                if self._decodes(asked, headers[message.name][1])
            ] or matching
        if not matching:
            raise LookupError("response without a request")
        asked, message = matching[0]
        self.waiting["request"].remove(asked)
        header, body = headers[message.name]
        code = header.get("error_code", 0)
        error = error_in(asked.key, code) if code else ""
        return Answer(asked, body, error)

    def _decodes(self, asked: Asked, body: bytes) -> bool:
        try:
            self.response(asked, body)
        except Malformed:
            return False
        return True


def kafka_request(data: bytes) -> Asked:
    """Read a request with Kafka's header. Raises Malformed."""
    try:
        head = request_head(data, 0, len(data))
    except Short:
        raise Malformed("header", len(data), "the header is cut off") from None
    name = NAMES.get(head.key, f"key {head.key}")
    about = head.key, head.version, head.correlation_id, head.client_id
    return Asked("request", name, *about, data[head.body :], answered=head.acks != 0)
