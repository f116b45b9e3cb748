"""The partitions that a message names, and what a response says of those that its request asked about."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import topic_name
from barnabas.specs.entities import partition_places, values_at
from barnabas.specs.frames import Direction
from barnabas.specs.jsonform import uuid_text


class Partition(NamedTuple):
    """A partition in a message."""

    topic: Any
    """Its name, or the id of one whose name is not known: newer messages have ids alone."""
    number: int
    place: str
    """Both in words: orders[3]."""
    said: dict[str, Any]
    """The structure that is about it."""
    about: dict[str, Any]
    """The one that is about its topic."""
    answer: dict[str, Any] | None = None
    """What the response says of one in a request; None: nothing, or it was not asked for."""

    @property
    def name(self) -> str:
        """The topic's name, or the text of its id if no name is known."""
        return uuid_text(self.topic) if isinstance(self.topic, uuid.UUID) else self.topic or ""


def partitions(exchange: Exchange, direction: Direction, context: Context) -> Iterator[Partition]:
    """Each one that a request or a response is about; none of what can't be read."""
    body = exchange.request if direction == "request" else exchange.response
    if not body:
        return
    where, *_ = partition_places(exchange.key, direction, exchange.version)
    *inner, field = where.below
    for about in values_at(body, where.topic):
        number = about.get(where.id)
        topic = about.get(where.name) or context.topics.get(number) or number
        name = topic_name(about, context.topics)
        for said in values_at(about, tuple(inner)):
            yield Partition(topic, said[field], f"{name}[{said[field]}]", said, about)


def answered_partitions(exchange: Exchange, context: Context) -> Iterator[Partition]:
    """Each one that a request is about, with its answer."""
    answers = {one[:2]: one.said for one in partitions(exchange, "response", context)}
    for one in partitions(exchange, "request", context):
        yield one._replace(answer=answers.get(one[:2]))


def by_follower(request: dict[str, Any]) -> bool:
    """Whether a broker that follows a leader sends this Fetch request; False: a consumer.

    >>> by_follower({"replica_id": 2}), by_follower({"replica_state": {"replica_id": 2}})
    (True, True)
    >>> by_follower({"replica_id": -1}), by_follower({})
    (False, False)
    """
    state = request.get("replica_state") or {}
    return bool(request.get("replica_id", -1) >= 0 or state.get("replica_id", -1) >= 0)
