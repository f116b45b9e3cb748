"""Decode messages embedded in the bytes fields of an exchange, with facts from the context."""

from __future__ import annotations

import functools
from typing import Any, Final

from barnabas.captures.kafka.context import Context, Group
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.embedded import BYTES_FIELDS, RECORDS, Surroundings, reveal
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import Blob, base64_text, to_json
from barnabas.specs.registry import NAMES

_MESSAGES: Final = frozenset(field.message for field in BYTES_FIELDS)


@functools.cache
def hiding(key: int) -> tuple[Direction, ...]:
    """Return the directions of an API whose messages may embed others.

    >>> hiding(0), hiding(3), hiding(11)
    (('request',), (), ('request', 'response'))
    """
    name = NAMES.get(key)
    return tuple(
        direction for direction in DIRECTIONS if f"{name}{direction.capitalize()}" in _MESSAGES
    )


def inside(
    exchange: Exchange, context: Context, blob: Blob = base64_text, records: int = RECORDS
) -> dict[str, Any]:
    """Return the embedded messages in JSON form, by direction and path.

    For example, `{"request": {"protocols[0].metadata": {...}}}`. Empty without embedded messages. An
    undecodable message is replaced by the reason; secrets are withheld. Of each body, at most `records`
    records are searched.
    """
    if not hiding(exchange.key):
        return {}
    messages = revealed(exchange, context, records)
    return {direction: to_json(values, blob) for direction, values in messages.items()}


def revealed(exchange: Exchange, context: Context, records: int = RECORDS) -> dict[str, Any]:
    """Return the embedded messages as decoded values, by direction and path."""
    messages: dict[str, Any] = {}
    for direction in hiding(exchange.key):
        body = exchange.request if direction == "request" else exchange.response
        if body is None:
            continue
        name = (exchange.request or {}).get("group_id")
        group = (name and context.groups.get(name)) or Group()
        around = Surroundings(
            group.protocol_type, group.protocol_name, context.topics, exchange.request
        )
        hidden = reveal(exchange.key, direction, body, around, records=records)
        if hidden:
            messages[direction] = hidden
    return messages
