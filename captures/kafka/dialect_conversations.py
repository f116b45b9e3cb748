"""Exchanges of a dialect in a capture.

The scenario in a capture says what is spoken (`dialect`); where there is none, the reader is told.
Exchanges are those that the proxy's log has of such a connection: APIs by their own keys
(`barnabas.specs.dialects.keys`), an error in the header as the note. Times are those of arrival at the proxy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, Framing, facts_of
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.pairing.captured_requests import pending_request
from barnabas.captures.kafka.pairing.dialect_pairing import Answer, Asked, Pairing, pairing_of
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
    """One connection."""

    link: Link
    pairing: Pairing
    framings: dict[Direction, Framing] = field(
        default_factory=lambda: {way: Framing() for way in DIRECTIONS}
    )


@dataclass(slots=True)
class DialectConversations:
    """The connections of a capture, read as of a dialect. Memory is bounded by the requests in flight."""

    dialect: Dialect
    undecoded: int = 0
    """Frames that are neither the dialect's nor of a Kafka API that it allows."""
    closed: dict[int, int] = field(default_factory=dict)
    """When each connection was closed."""
    _open: dict[int, _Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[Exchange]:
        """The exchanges, each when it is over."""
        now = 0
        for event in events:
            now = event.ts_ns
            for exchange in self._event(event):
                exchange.ended = now
                yield exchange
        for known in self._open.values():
            for exchange in _ended(known, "the capture ends"):
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
            self.closed[event.connection] = event.ts_ns
            yield from _ended(self._open.pop(event.connection), "connection closed")
        elif isinstance(event, Chunk) and event.flow == "arrived":
            known = self._open[event.connection]
            framing = known.framings[event.direction]
            for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
                try:
                    yield from _frame(known, frame, self._paired(known, event.direction, frame))
                except (Malformed, LookupError):
                    self.undecoded += 1

    def _paired(
        self, known: _Conversation, direction: Direction, frame: CapturedFrame
    ) -> Asked | Answer:
        """Read a frame. Raises Malformed, LookupError; Trouble if the dialect's class fails."""
        try:
            return known.pairing.frame(direction, frame.data)
        except (Malformed, LookupError):
            raise
        except Exception as problem:  # noqa: BLE001 - whatever somebody's class does
            raise failed(f"dialect {self.dialect.name}", self.dialect.pairing, problem) from None


def _ended(known: _Conversation, how: str) -> Iterator[Exchange]:
    for waiting in known.pairing.waiting.values():
        for asked in waiting:
            outcome = Outcome(note=f"no response: {how}")
            yield build_exchange(asked.reason, known.link, outcome)


def _frame(known: _Conversation, frame: CapturedFrame, found: Asked | Answer) -> Iterator[Exchange]:
    """The exchange that is over with a frame. Raises Malformed, LookupError."""
    facts = facts_of(frame)
    never, note = facts.get("left") == "never", facts.get("note", "")
    rules = tuple(facts.get("rules", ()))
    if isinstance(found, Asked):
        found.reason = _begun(known, found, frame)
        found.reason.rules = rules
        if never:
            known.pairing.forget(found)
        if never or not found.answered:
            outcome = Outcome(note=note if never else UNANSWERED)
            yield build_exchange(found.reason, known.link, outcome)
        return
    pending: Pending = found.asked.reason
    pending.note = found.error  # behind an error in the header stands nothing
    body = None if found.error or never else found.body
    if body is not None:
        known.pairing.response(found.asked, body)
    outcome = Outcome(
        received=frame.ts,
        answered=None if never else frame.ts,
        response_size=len(frame.data),
        response_body=body,
        packet=frame.packet,
        rules=rules,
        note=note,
    )
    yield build_exchange(pending, known.link, outcome)


def _begun(known: _Conversation, asked: Asked, frame: CapturedFrame) -> Pending:
    """A request waits for its answer. Raises Malformed, LookupError."""
    try:
        api(asked.key).request.codec(asked.version).decode(asked.body)
    except (Malformed, LookupError):
        known.pairing.forget(asked)
        raise
    head = (asked.correlation_id, asked.key, asked.version, asked.client_id)
    return pending_request(frame, head, body=asked.body)
