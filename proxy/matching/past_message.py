"""A message of a past exchange, as rules would see it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final

from barnabas.captures.kafka.context.sessions import INCREMENTAL, Sessions
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.matching.message import Message
from barnabas.specs.frames import Direction, Short, request_head
from barnabas.specs.headers import encode_header
from barnabas.specs.malformed import Malformed

NOT_KEPT: Final = "its body, or its request's, is not kept"


def past_message(
    exchange: Exchange,
    direction: Direction,
    ordinal: int = 0,
    topics: Mapping[uuid.UUID, str] | None = None,
    reading: Values | None = None,
    sessions: Sessions | None = None,
) -> Message:
    """Return the request or the response of an exchange as it arrived.

    The addresses of brokers are unknown: every node has an empty address. Conditions on a missing body are
    undecided.

    Args:
        exchange: The exchange.
        direction: Which of its two messages to return.
        ordinal: The ordinal of the connection among that client's to that broker.
        topics: Names of topics by id.
        reading: How keys and values of records are decoded.
        sessions: The fetch and share sessions before the exchange.
    """
    body = exchange.body(direction)
    if direction == "response" and exchange.rules and exchange.response_came is not None:
        body = exchange.response_came  # before rules had changed it
    message_type = direction, exchange.key, exchange.version
    head = encode_header(*message_type, exchange.correlation_id, exchange.client_id)
    size = exchange.request_size if direction == "request" else exchange.response_size
    complete = body is not None and exchange.request_body is not None
    return Message(
        direction=direction,
        key=exchange.key,
        version=exchange.version,
        client_id=exchange.client_id,
        broker=exchange.node,
        connection=exchange.connection,
        ordinal=ordinal,
        group=None,
        size=size or 0,
        body=body,
        request=exchange.request_body if direction == "response" else None,
        head=head,
        correlation_id=exchange.correlation_id,
        arrived=exchange.ts if direction == "request" else exchange.received or exchange.end,
        acks=_acks(head + (body or b"")) if direction == "request" else None,
        listener=lambda _: ("", 0),
        topics=topics or {},
        sessions=sessions if exchange.key in INCREMENTAL else None,
        reading=reading or Values(),
        too_large="" if complete else NOT_KEPT,
    )


def _acks(frame: bytes) -> int | None:
    try:
        return request_head(frame, 0, len(frame)).acks
    except (Short, Malformed):
        return None
