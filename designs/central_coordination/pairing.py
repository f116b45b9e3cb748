"""Pairs the messages of a connection of central coordination, on which both sides send requests.

A consumer sends requests until it has registered. After that the coordinator does, on the same connection.
Headers have no correlation id: responses come in order. Requests of Kafka 0.8 for records have other types,
so brokers accept them on such connections, too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from barnabas.captures.kafka.pairing.dialect_pairing import (
    DialectRequest,
    DialectResponse,
    kafka_request,
)
from barnabas.designs.central_coordination.schemas import RegisterConsumer, stop_fetcher_response
from barnabas.specs.dialect_frames import decode_frame
from barnabas.specs.dialects import Dialect
from barnabas.specs.dialects.keys import error_in, own_key
from barnabas.specs.frames import OPPOSITE, Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api


@dataclass(slots=True)
class OrderedPairing:
    """The pairing of a connection; see `barnabas.captures.kafka.pairing.dialect_pairing.Pairing`."""

    dialect: Dialect
    client: str | None = None
    """The id that the consumer registers with."""
    waiting: dict[Direction, deque[DialectRequest]] = field(
        default_factory=lambda: {"request": deque(), "response": deque()}
    )
    registered: dict[str, Any] | None = None
    """The accepted registration, after which the consumer only responds."""
    _count: int = 0

    def frame(self, direction: Direction, data: bytes) -> DialectRequest | DialectResponse:
        """Read a frame. Raises Malformed, or LookupError for a response without a request."""
        if self._answers(direction):
            return self._answer(OPPOSITE[direction], data)
        request = self._ask(direction, data)
        if request.expects_response:
            self.waiting[direction].append(request)
        return request

    def forget(self, request: DialectRequest) -> None:
        """Forget a request that is not forwarded: no response follows."""
        if request.expects_response:
            self.waiting[request.side].remove(request)

    def response(self, request: DialectRequest, body: bytes) -> dict[str, Any]:
        """Decode the body of a response. Raises Malformed."""
        if request.key in NAMES:
            return api(request.key).response.codec(request.version).decode(body)
        kinds = {message.name: message for message in self.dialect.api(request.api).responses}
        name = next(iter(kinds))
        if len(kinds) > 1:
            auto = self.registered is not None and bool(self.registered["auto_commit"])
            name = stop_fetcher_response(auto_commit=auto)
        return kinds[name].codec(request.version).decode(body)

    def _answers(self, direction: Direction) -> bool:
        if direction == "request":
            return self.registered is not None
        return bool(self.waiting["request"])

    def _ask(self, side: Direction, data: bytes) -> DialectRequest:
        if side == "request" and int.from_bytes(data[:2], signed=True) in self.dialect.kafka_apis:
            kafka = kafka_request(data)
            self.client = kafka.client_id
            return kafka
        self._count += 1
        decoded = decode_frame(self.dialect, data, "request")
        api = self.dialect.api(decoded.api)
        if side == "request":
            self.client = decoded.body.get("consumer_id", self.client)
        head = api.name, own_key(self.dialect, api), api.version, self._count, self.client
        return DialectRequest(side, *head, data[2:])

    def _answer(self, side: Direction, data: bytes) -> DialectResponse:
        waiting = self.waiting[side]
        kafkas = bool(waiting) and waiting[0].key in NAMES
        start = 4 if kafkas else 2
        if len(data) < start:
            raise Malformed("header", len(data), "the header is cut off")
        head = int.from_bytes(data[:start], signed=True)
        request = next(
            (pending for pending in waiting if not kafkas or pending.correlation_id == head), None
        )
        if request is None:
            raise LookupError("response without a request")
        waiting.remove(request)
        error = "" if kafkas or not head else error_in(request.key, head)
        if request.api == RegisterConsumer.name and not error:
            self.registered = RegisterConsumer.request.codec(0).decode(request.body)
        return DialectResponse(request, data[start:], error)
