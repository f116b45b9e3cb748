"""Messages inside the bytes fields of an exchange, decoded with what the context knows."""

from __future__ import annotations

import functools
from typing import Any, Final

from barnabas.captures.kafka.context import Context, Group
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.embedded import BYTES_FIELDS, RECORDS, Surroundings, reveal
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import Blob, base64_text, to_json
from barnabas.specs.registry import NAMES

_MESSAGES: Final = frozenset(place.message for place in BYTES_FIELDS)


@functools.cache
def hiding(key: int) -> tuple[Direction, ...]:
    """The directions of an API in which messages may hide something.

    >>> hiding(0), hiding(3), hiding(11)
    (('request',), (), ('request', 'response'))
    """
    name = NAMES.get(key)
    return tuple(one for one in DIRECTIONS if f"{name}{one.capitalize()}" in _MESSAGES)


def inside(
    exchange: Exchange, context: Context, blob: Blob = base64_text, records: int = RECORDS
) -> dict[str, Any]:
    """By direction and path, in JSON form: `{"request": {"protocols[0].metadata": {...}}}`.

    Empty if nothing hides there. What can't be read says why; secrets are withheld. At most `records` records
    of a body are looked at.
    """
    if not hiding(exchange.key):
        return {}
    found = revealed(exchange, context, records)
    return {direction: to_json(values, blob) for direction, values in found.items()}


def revealed(exchange: Exchange, context: Context, records: int = RECORDS) -> dict[str, Any]:
    """The same as it was decoded."""
    found: dict[str, Any] = {}
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
            found[direction] = hidden
    return found
