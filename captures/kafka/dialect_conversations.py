"""Build the exchanges on dialect connections of a capture.

The scenario in a capture names the dialect (`dialect`); without a scenario, the caller passes it. The
exchanges are those of the proxy's log: APIs have their own keys (`barnabas.specs.dialects.keys`), an error in
the header is the note, and times are arrival times at the proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, Framing, facts_of
from barnabas.captures.kafka.notes import CAPTURE_ENDS, UNANSWERED
from barnabas.captures.kafka.pairing.captured_requests import pending_request
from barnabas.captures.kafka.pairing.dialect_pairing import (
    DialectRequest,
    DialectResponse,
    Pairing,
    pairing_of,
)
from barnabas.captures.kafka.pairing.exchange_builder import Link, Outcome, build_exchange
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.tcp.events import Chunk, Closed, Event, Opened
from barnabas.plugins import failed
from barnabas.specs.dialects import Dialect
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api


def error_of(exchange: Exchange) -> str | None:
    """Return the name of the error in a response of a dialect, in its body or header.

    Empty: no error; None: no response.
    """
    if exchange.latency_ms is None:
        return None
    return exchange.note if exchange.response_body is None else exchange.error or ""


@dataclass(slots=True)
class _Conversation:
    link: Link
    pairing: Pairing
    framings: dict[Direction, Framing] = field(
        default_factory=lambda: {direction: Framing() for direction in DIRECTIONS}
    )


@dataclass(slots=True)
class DialectConversations:
    """The connections of a capture, read as a dialect. Memory is bounded by the requests in flight."""

    dialect: Dialect
    undecoded: int = 0
    """Frames that belong neither to the dialect nor to a Kafka API that it allows."""
    _open: dict[int, _Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        """Yield the exchanges, each when it ends."""
        now = 0
        for event in events:
            now = event.ts_ns
            for exchange in self._event(event):
                exchange.ended = now
                yield exchange
        for conversation in self._open.values():
            for exchange in _ended(conversation, CAPTURE_ENDS):
                exchange.ended = now
                yield exchange

    def _event(self, event: Event) -> Iterator[Exchange]:
        if isinstance(event, Opened):
            client, broker = event.comment.get("client", event.client), event.comment.get("broker")
            link = Link(
                event.connection, client, broker, server_address=event.server, proxied=False
            )
            self._open[event.connection] = _Conversation(link, pairing_of(self.dialect))
        elif event.connection not in self._open:
            return
        elif isinstance(event, Closed):
            yield from _ended(self._open.pop(event.connection), "connection closed")
        elif isinstance(event, Chunk) and event.flow == "arrived":
            conversation = self._open[event.connection]
            framing = conversation.framings[event.direction]
            for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
                try:
                    yield from _frame(
                        conversation, frame, self._paired(conversation, event.direction, frame)
                    )
                except (Malformed, LookupError):
                    self.undecoded += 1

    def _paired(
        self, conversation: _Conversation, direction: Direction, frame: CapturedFrame
    ) -> DialectRequest | DialectResponse:
        """Read a frame. Raises Malformed, LookupError; Trouble if the dialect's class fails."""
        try:
            return conversation.pairing.frame(direction, frame.data)
        except (Malformed, LookupError):
            raise
        except Exception as problem:  # noqa: BLE001 - a plug-in's class may raise anything
            raise failed(f"dialect {self.dialect.name}", self.dialect.pairing, problem) from None


def _ended(conversation: _Conversation, how: str) -> Iterator[Exchange]:
    for waiting in conversation.pairing.waiting.values():
        for request in waiting:
            outcome = Outcome(note=f"no response: {how}")
            yield build_exchange(request.reason, conversation.link, outcome)


def _frame(
    conversation: _Conversation, frame: CapturedFrame, message: DialectRequest | DialectResponse
) -> Iterator[Exchange]:
    """Yield the exchange that a frame ends. Raises Malformed, LookupError."""
    facts = facts_of(frame)
    never, note = facts.get("left") == "never", facts.get("note", "")
    rules = tuple(facts.get("rules", ()))
    if isinstance(message, DialectRequest):
        message.reason = _pending(conversation, message, frame)
        message.reason.rules = rules
        if never:
            conversation.pairing.forget(message)
        if never or not message.expects_response:
            outcome = Outcome(note=note if never else UNANSWERED)
            yield build_exchange(message.reason, conversation.link, outcome)
        return
    pending: Pending = message.request.reason
    pending.note = message.error  # a response with an error in its header has no body
    body = None if message.error or never else message.body
    if body is not None:
        conversation.pairing.response(message.request, body)
    outcome = Outcome(
        received=frame.ts,
        answered=None if never else frame.ts,
        response_size=len(frame.data),
        response_body=body,
        packet=frame.packet,
        rules=rules,
        note=note,
    )
    yield build_exchange(pending, conversation.link, outcome)


def _pending(conversation: _Conversation, request: DialectRequest, frame: CapturedFrame) -> Pending:
    """Return the pending request of a decodable frame. Raises Malformed, LookupError."""
    try:
        api(request.key).request.codec(request.version).decode(request.body)
    except (Malformed, LookupError):
        conversation.pairing.forget(request)
        raise
    head = (request.correlation_id, request.key, request.version, request.client_id)
    return pending_request(frame, head, body=request.body)
