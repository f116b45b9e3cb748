"""Pair the requests and responses of a connection that speaks a dialect.

A dialect names its pairing class (`barnabas.specs.dialects.dialect.Dialect.pairing`). `CorrelationPairing`
suits every dialect whose headers have a correlation id.
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
class DialectRequest:
    """A request of a dialect. Two requests are never equal."""

    side: Direction
    """The sender: "request" for the client, "response" for what it has connected to."""
    api: str
    key: int
    """The key of the API (`barnabas.specs.dialects.keys`)."""
    version: int
    correlation_id: int
    """The correlation id of the header; a running number if it has none."""
    client_id: str | None
    body: bytes
    expects_response: bool = True
    """Whether a response follows; False for a Produce with acks=0."""
    reason: Any = None
    """Data of the caller, returned with the response."""


class DialectResponse(NamedTuple):
    """A response of a dialect, and its request."""

    request: DialectRequest
    body: bytes
    error: str
    """The name of the error in the header. Errors in bodies are not read."""


class Pairing(Protocol):
    """The state of one connection. Frames are whole, without their size."""

    client: str | None
    """The client id; if headers have none, the id that the client gave in a body."""
    waiting: dict[Direction, deque[DialectRequest]]
    """Requests in flight, by sender."""

    def frame(self, direction: Direction, data: bytes) -> DialectRequest | DialectResponse:
        """Read a frame. Raises Malformed, or LookupError for a response without a request."""

    def forget(self, request: DialectRequest) -> None:
        """Forget a request that is not forwarded: no response follows."""

    def response(self, request: DialectRequest, body: bytes) -> dict[str, Any]:
        """Decode the body of a response. Raises Malformed."""


def pairing_of(dialect: Dialect) -> Pairing:
    """Return the pairing of a new connection. Raises Trouble if the dialect's class is unusable."""
    pairing: Pairing = make(f"dialect {dialect.name}", dialect.pairing, dialect)
    return pairing


@dataclass(slots=True)
class CorrelationPairing:
    """A pairing by correlation id: a response repeats the id of its request in the header.

    Only clients send requests. The connection may carry the Kafka APIs that the dialect allows. If the
    responses of some APIs have other headers, several requests may fit a response: the first whose response
    decodes is chosen.
    """

    dialect: Dialect
    client: str | None = None
    waiting: dict[Direction, deque[DialectRequest]] = field(
        default_factory=lambda: {"request": deque()}
    )

    def frame(self, direction: Direction, data: bytes) -> DialectRequest | DialectResponse:
        """Read a frame. Raises Malformed, or LookupError for a response without a request."""
        if direction == "response":
            return self._answer(data)
        if self.dialect.has_kafka_headers:
            request = self._kafka_request(data)
        elif int.from_bytes(data[:2], signed=True) in self.dialect.kafka_apis:
            request = kafka_request(data)
        else:
            request = self._request(data)
        self.client = request.client_id
        if request.expects_response:
            self.waiting["request"].append(request)
        return request

    def forget(self, request: DialectRequest) -> None:
        """Forget a request that is not forwarded: no response follows."""
        if request.expects_response:
            self.waiting["request"].remove(request)

    def response(self, request: DialectRequest, body: bytes) -> dict[str, Any]:
        """Decode the body of a response. Raises Malformed."""
        return api(request.key).response.codec(request.version).decode(body)

    def _kafka_request(self, data: bytes) -> DialectRequest:
        request = kafka_request(data)
        for dialect_api in self.dialect.apis:
            if (dialect_api.key, dialect_api.version) == (request.key, request.version):
                request.key, request.api = own_key(self.dialect, dialect_api), dialect_api.name
        return request

    def _request(self, data: bytes) -> DialectRequest:
        dialect = self.dialect
        header, body = read_header(dialect.request_header, data)
        dialect_api = dialect.api(header[dialect.key_field])
        return DialectRequest(
            "request",
            dialect_api.name,
            own_key(dialect, dialect_api),
            dialect_api.version if dialect.version_field is None else header[dialect.version_field],
            header["correlation_id"],
            header.get("client_id", self.client),
            body,
        )

    def _answer(self, data: bytes) -> DialectResponse:
        headers: dict[str, tuple[dict[str, Any], bytes]] = {}
        matching: list[tuple[DialectRequest, Message]] = []
        for request in self.waiting["request"]:
            message = RESPONSE_HEADER
            if request.key not in NAMES:
                message = self.dialect.response_header_of(self.dialect.api(request.api))
            if message.name not in headers:
                headers[message.name] = read_header(message, data)
            if headers[message.name][0]["correlation_id"] == request.correlation_id:
                matching.append((request, message))
        if len(matching) > 1:  # APIs whose responses have different headers
            matching = [
                (request, message)
                for request, message in matching
                if self._decodes(request, headers[message.name][1])
            ] or matching
        if not matching:
            raise LookupError("response without a request")
        request, message = matching[0]
        self.waiting["request"].remove(request)
        header, body = headers[message.name]
        code = header.get("error_code", 0)
        error = error_in(request.key, code) if code else ""
        return DialectResponse(request, body, error)

    def _decodes(self, request: DialectRequest, body: bytes) -> bool:
        try:
            self.response(request, body)
        except Malformed:
            return False
        return True


def kafka_request(data: bytes) -> DialectRequest:
    """Read a request with Kafka's header. Raises Malformed."""
    try:
        head = request_head(data, 0, len(data))
    except Short:
        raise Malformed("header", len(data), "the header is cut off") from None
    name = NAMES.get(head.key, f"key {head.key}")
    fields = head.key, head.version, head.correlation_id, head.client_id
    return DialectRequest(
        "request", name, *fields, data[head.body :], expects_response=head.acks != 0
    )
