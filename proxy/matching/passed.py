"""A message that has passed, as rules would see it again."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.proxy.matching.message import Message
from barnabas.specs.frames import Direction, Short, request_head
from barnabas.specs.headers import (
    REQUEST_HEADER,
    RESPONSE_HEADER,
    request_header_version,
    response_header_version,
)
from barnabas.specs.malformed import Malformed

NOT_KEPT: Final = "its body, or its request's, is not kept"


def passed(
    exchange: Exchange,
    direction: Direction,
    ordinal: int = 0,
    topics: Mapping[uuid.UUID, str] | None = None,
    reading: Values | None = None,
) -> Message:
    """A request, or the response to it, as it arrived: what needs a body that is not kept can't be decided.

    ordinal: of the connection among that client's to that broker. Where messages go is not known: a node
    stands for an address that is none.
    """
    body = exchange.body(direction)
    if direction == "response" and exchange.rules and exchange.response_came is not None:
        body = exchange.response_came  # before rules had changed it
    head = _head(exchange, direction)
    size = exchange.request_size if direction == "request" else exchange.response_size
    kept = body is not None and exchange.request_body is not None
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
        reading=reading or Values(),
        too_large="" if kept else NOT_KEPT,
    )


def _head(exchange: Exchange, direction: Direction) -> bytes:
    key, version = exchange.key, exchange.version
    if direction == "response":
        codec = RESPONSE_HEADER.codec(response_header_version(key, version))
        return codec.encode({"correlation_id": exchange.correlation_id})
    header = request_header_version(key, version)
    values = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": exchange.correlation_id,
    }
    return REQUEST_HEADER.codec(header).encode(
        {**values, "client_id": exchange.client_id} if header else values
    )


def _acks(frame: bytes) -> int | None:
    try:
        return request_head(frame, 0, len(frame)).acks
    except (Short, Malformed):
        return None
