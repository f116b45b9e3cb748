"""Make the spans of an exchange: one for the exchange, and one for the broker's time in it.

Names follow OpenTelemetry's conventions for messaging, where they define one:
https://opentelemetry.io/docs/specs/semconv/messaging/kafka/ (since version 1.27). All other names are
`kafka.*`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.host_port import endpoint_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.request_group import group_of
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.kafka.topics import topics_of
from barnabas.captures.kafka.tracing.trace_context import TraceContext, contexts_of, record_count
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.keys import (
    FETCH,
    OFFSET_COMMIT,
    PRODUCE,
    SHARE_ACKNOWLEDGE,
    SHARE_FETCH,
    TXN_OFFSET_COMMIT,
)

Value = str | int | float | tuple[str, ...]

LINKS: Final = 32
"""Links of a span at most; the others are counted in `kafka.links_left_out`."""

TOPICS: Final = 32
"""Topics of a span that are listed; the others are counted in `kafka.topics_left_out`."""

TEXT: Final = 256
"""Characters of a client's text that are retained: a client id may have 32 KiB."""

OPERATIONS: Final = {
    PRODUCE: "send",
    FETCH: "receive",
    SHARE_FETCH: "receive",
    OFFSET_COMMIT: "settle",
    TXN_OFFSET_COMMIT: "settle",
    SHARE_ACKNOWLEDGE: "settle",
}
"""The type of operation by API key, where the conventions define one."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span as OpenTelemetry defines it; times are ns since the epoch."""

    name: str
    context: TraceContext
    start: int
    end: int
    kind: Literal["client", "server"] = "client"
    parent: TraceContext | None = None
    links: tuple[TraceContext, ...] = ()
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str = ""
    """The error or missing response; empty: no known error."""


def spans_of(exchange: Exchange, context: Context) -> list[Span]:
    """Return the spans of an exchange from which `context` has learned.

    Live traffic and its capture give the same spans. A Produce is a child of its first record's span, and has
    links to the spans of its other records; a Fetch only has links.
    """
    contexts = contexts_of(exchange)
    parent = contexts.pop(0) if exchange.key == PRODUCE and contexts else None
    trace_id, span_id, of_broker = _ids(exchange)
    if parent is not None:
        trace_id = parent.trace_id
    own_context = TraceContext(trace_id, span_id)
    topics = sorted(topics_of(exchange, context.topics))
    attributes = _attributes(exchange, topics)
    if len(contexts) > LINKS:
        attributes["kafka.links_left_out"] = len(contexts) - LINKS
    span = Span(
        f"{exchange.api} {topics[0]}" if len(topics) == 1 else exchange.api,
        own_context,
        exchange.ts,
        max(exchange.answered or exchange.end, exchange.ts),
        parent=parent,
        links=tuple(contexts[:LINKS]),
        attributes=attributes,
        error=_error(exchange),
    )
    since, received = max(exchange.begun, exchange.sent or 0), exchange.received
    if not since or received is None:
        return [span]
    node: dict[str, Value] = {} if exchange.broker is None else {"kafka.broker": exchange.broker}
    name = f"{exchange.api} in the broker"
    broker = TraceContext(trace_id, of_broker)
    return [
        span,
        Span(name, broker, since, max(received, since), "server", own_context, attributes=node),
    ]


def _attributes(exchange: Exchange, topics: list[str]) -> dict[str, Value]:
    operation = OPERATIONS.get(exchange.key)
    body = exchange.request_body
    group = None if body is None else group_of(exchange.key, exchange.version, body)
    attributes: dict[str, Value | None] = {
        "messaging.system": "kafka",
        "messaging.operation.name": exchange.api,
        "messaging.operation.type": operation,
        "messaging.destination.name": topics[0] if len(topics) == 1 else None,
        "messaging.batch.message_count": record_count(exchange),
        "messaging.client.id": exchange.client_id and shorten(exchange.client_id, TEXT),
        "messaging.consumer.group.name": group and shorten(group, TEXT),
        "user.name": exchange.user,
        "error.type": _error_type(exchange),
        **_address("client", exchange.client_address),
        **_address("server", exchange.server_address),
        "kafka.api": exchange.api,
        "kafka.version": exchange.version,
        "kafka.correlation_id": exchange.correlation_id,
        "kafka.connection": exchange.connection,
        "kafka.broker": exchange.broker,
        "kafka.request_size": exchange.request_size,
        "kafka.response_size": exchange.response_size,
        "kafka.broker_ms": exchange.broker_ms,
        "kafka.error": exchange.error or None,
        "kafka.rules": exchange.rules or None,
        "kafka.note": exchange.note or None,
        "kafka.topics": tuple(topics[:TOPICS]) if len(topics) > 1 else None,
        "kafka.topics_left_out": max(len(topics) - TOPICS, 0) or None,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _address(side: str, text: str) -> dict[str, Value | None]:
    try:
        host, port = endpoint_of(text)
    except ValueError:  # unknown, as in captures of other tools
        return {}
    return {f"{side}.address": host, f"{side}.port": port}


def _error(exchange: Exchange) -> str:
    """Return the first error of the response, or the reason why there is no response."""
    if exchange.response_size is None and exchange.note != UNANSWERED:
        return exchange.note or "no response"
    return exchange.error or ""


def _error_type(exchange: Exchange) -> str | None:
    if exchange.error:
        return exchange.error
    return "no_response" if _error(exchange) else None


def _ids(exchange: Exchange) -> tuple[int, int, int]:
    """Return the ids of a trace and two spans: a hash of fields that identify the exchange."""
    fields = (exchange.ts, exchange.client_address, exchange.server_address, exchange.connection)
    identity = repr((*fields, exchange.ordinal, exchange.correlation_id, exchange.key))
    digest = hashlib.blake2b(identity.encode(), digest_size=32).digest()
    return int.from_bytes(digest[:16]), int.from_bytes(digest[16:24]), int.from_bytes(digest[24:])
