"""Messages inside the bytes fields of an exchange, decoded with what the context knows."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.context import Context, Group
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.embedded import reveal
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import to_json


def inside(exchange: Exchange, context: Context) -> dict[str, Any]:
    """By direction and path, in JSON form: `{"request": {"protocols[0].metadata": {...}}}`.

    Empty if nothing hides there. What can't be read says why; secrets are withheld.
    """
    return {direction: to_json(found) for direction, found in revealed(exchange, context).items()}


def revealed(exchange: Exchange, context: Context) -> dict[str, Any]:
    """The same as it was decoded."""
    group = context.groups.get((exchange.request or {}).get("group_id", ""), Group())
    found: dict[str, Any] = {}
    bodies: dict[Direction, dict[str, Any] | None] = {
        "request": exchange.request,
        "response": exchange.response,
    }
    for direction, body in bodies.items():
        if body is None:
            continue
        hidden = reveal(
            exchange.key,
            direction,
            body,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            topic_names=context.topics,
            request=exchange.request,
        )
        if hidden:
            found[direction] = hidden
    return found
