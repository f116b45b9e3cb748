"""The spans of an exchange: its own, and that of the broker's time in it.

Names follow OpenTelemetry's conventions for messaging, where these have one:
https://opentelemetry.io/docs/specs/semconv/messaging/kafka/ (since version 1.27). All else is `kafka.*`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final, Literal

from barnabas.captures.host_port import endpoint_of
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.naming import group_of
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
"""Links of a span at most; more are counted in `kafka.links_left_out`."""

TOPICS: Final = 32
"""Topics of a span that are named at most; more are counted in `kafka.topics_left_out`."""

TEXT: Final = 256
"""Characters of a client's text that are kept: a client id may have 32 KiB."""

OPERATIONS: Final = {
    PRODUCE: "send",
    FETCH: "receive",
    SHARE_FETCH: "receive",
    OFFSET_COMMIT: "settle",
    TXN_OFFSET_COMMIT: "settle",
    SHARE_ACKNOWLEDGE: "settle",
}
"""By API key, where the conventions have a type of operation for it."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span as OpenTelemetry understands it; times are ns since the epoch."""

    name: str
    context: TraceContext
    start: int
    end: int
    kind: Literal["client", "server"] = "client"
    parent: TraceContext | None = None
    links: tuple[TraceContext, ...] = ()
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str = ""
    """What went wrong; empty: nothing, as far as anybody knows."""


def spans_of(exchange: Exchange, context: Context) -> list[Span]:
    """Those of an exchange that `context` has learnt from: ever the same, live and out of a capture.

    A Produce is a child of its first record's span, and has links to the others'; a Fetch has links only.
    """
    found = contexts_of(exchange)
    parent = found.pop(0) if exchange.key == PRODUCE and found else None
    trace_id, span_id, of_broker = _ids(exchange)
    if parent is not None:
        trace_id = parent.trace_id
    own = TraceContext(trace_id, span_id)
    topics = sorted(topics_of(exchange, context.topics))
    attributes = _attributes(exchange, topics)
    if len(found) > LINKS:
        attributes["kafka.links_left_out"] = len(found) - LINKS
    span = Span(
        f"{exchange.api} {topics[0]}" if len(topics) == 1 else exchange.api,
        own,
        exchange.ts,
        max(exchange.answered or exchange.end, exchange.ts),
        parent=parent,
        links=tuple(found[:LINKS]),
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
        Span(name, broker, since, max(received, since), "server", own, attributes=node),
    ]


def _attributes(exchange: Exchange, topics: list[str]) -> dict[str, Value]:
    operation = OPERATIONS.get(exchange.key)
    body = exchange.request_body
    group = None if body is None else group_of(exchange.key, exchange.version, body)
    found: dict[str, Value | None] = {
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
    return {name: value for name, value in found.items() if value is not None}


def _address(side: str, text: str) -> dict[str, Value | None]:
    try:
        host, port = endpoint_of(text)
    except ValueError:  # a capture of others need not know it
        return {}
    return {f"{side}.address": host, f"{side}.port": port}


def _error(exchange: Exchange) -> str:
    """The first error of the response, or why there is none."""
    if exchange.response_size is None and exchange.note != UNANSWERED:
        return exchange.note or "no response"
    return exchange.error or ""


def _error_type(exchange: Exchange) -> str | None:
    if exchange.error:
        return exchange.error
    return "no_response" if _error(exchange) else None


def _ids(exchange: Exchange) -> tuple[int, int, int]:
    """A trace and two spans of its own: a hash of what no other exchange has."""
    known = (exchange.ts, exchange.client_address, exchange.server_address, exchange.connection)
    about = repr((*known, exchange.ordinal, exchange.correlation_id, exchange.key))
    found = hashlib.blake2b(about.encode(), digest_size=32).digest()
    return int.from_bytes(found[:16]), int.from_bytes(found[16:24]), int.from_bytes(found[24:])
