"""Find the partitions in a message, and the partitions of a request with their responses."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.entities import partition_places, values_at
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import uuid_text


class Partition(NamedTuple):
    """A partition in a message."""

    topic: Any
    """The topic's name, or its id if the name is unknown: newer messages only have ids."""
    number: int
    fields: dict[str, Any]
    """The structure of the partition."""
    topic_fields: dict[str, Any]
    """The structure of its topic."""
    response_fields: dict[str, Any] | None = None
    """The structure of the partition in the response; None: not in the response, or not looked up."""

    @property
    def name(self) -> str:
        """Return the topic's name, or the text of its id if the name is unknown."""
        return uuid_text(self.topic) if isinstance(self.topic, uuid.UUID) else self.topic or ""

    @property
    def text(self) -> str:
        """Return topic and partition as text: orders[3]; of an unknown name the first part of its id."""
        name = self.name[:8] if isinstance(self.topic, uuid.UUID) else self.name
        return f"{name}[{self.number}]"


def partitions(exchange: Exchange, direction: Direction, context: Context) -> Iterator[Partition]:
    """Yield each partition in a request or response; none if the body can't be read."""
    body = exchange.request if direction == "request" else exchange.response
    if not body:
        return
    layout, *_ = partition_places(exchange.key, direction, exchange.version)
    *inner, field = layout.below
    for topic_fields in values_at(body, layout.topic):
        number = topic_fields.get(layout.id)
        topic = topic_fields.get(layout.name) or context.topics.get(number) or number
        for fields in values_at(topic_fields, inner):
            yield Partition(topic, fields[field], fields, topic_fields)


def answered_partitions(exchange: Exchange, context: Context) -> Iterator[Partition]:
    """Yield each partition of a request with its response."""
    responses = {
        partition[:2]: partition.fields for partition in partitions(exchange, "response", context)
    }
    for partition in partitions(exchange, "request", context):
        yield partition._replace(response_fields=responses.get(partition[:2]))


def by_follower(request: dict[str, Any]) -> bool:
    """Return whether a follower sends this Fetch request; False: a consumer.

    >>> by_follower({"replica_id": 2}), by_follower({"replica_state": {"replica_id": 2}})
    (True, True)
    >>> by_follower({"replica_id": -1}), by_follower({})
    (False, False)
    """
    state = request.get("replica_state") or {}
    return bool(request.get("replica_id", -1) >= 0 or state.get("replica_id", -1) >= 0)
