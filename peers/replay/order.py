"""Recorded exchanges in the order of their requests. A capture is read twice: first for the order.

A capture yields an exchange at its end; earlier requests may still be in flight then.
"""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.context.id_names import TOPIC, ids_with_names
from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.topics import NeededTopics
from barnabas.specs.keys import SYNC_GROUP

LIMIT: Final = 1 << 30
"""Bytes of messages that may wait for an earlier request with a longer exchange."""

Generation = tuple[str, int]
"""Group id and generation."""


class TooLarge(ValueError):
    """The messages that wait for a long exchange exceed the memory limit."""


@dataclass(slots=True)
class Index:
    """Facts about a recording that the replay needs before its first request."""

    order: array[int] = field(default_factory=lambda: array("q"))
    """The exchanges, by their number in the order in which they ended, in the order of requests: 8 bytes
    of each, however long the recording is."""
    last: dict[int, int] = field(default_factory=dict)
    """Connection -> number of its last exchange in that order."""
    began: int = 0
    """Time of the first request, in ns since the epoch."""
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    """Names by the recorded ids."""
    needed: NeededTopics = field(default_factory=NeededTopics)
    """The topics and partitions that it needs."""
    assignments: dict[Generation, list[dict[str, Any]]] = field(default_factory=dict)
    """The leader's assignments of each generation of a group."""


def index(exchanges: Iterable[Exchange]) -> Index:
    """Read all exchanges once and index them, without keeping them in memory."""
    collected = Index()
    times, connections = array("q"), array("q")
    for exchange in exchanges:
        times.append(exchange.ts)
        connections.append(exchange.connection)
        collected.topics.update(ids_with_names(exchange, TOPIC))
        collected.needed.add(exchange)
        if exchange.key == SYNC_GROUP and exchange.request and exchange.request["assignments"]:
            generation = exchange.request["group_id"], exchange.request["generation_id"]
            collected.assignments[generation] = exchange.request["assignments"]
    collected.order = array("q", sorted(range(len(times)), key=times.__getitem__))
    collected.last = {connections[number]: number for number in collected.order}
    collected.began = min(times, default=0)
    return collected


def in_order(
    exchanges: Iterable[Exchange], order: Iterable[int], limit: int = LIMIT
) -> Iterator[tuple[int, Exchange]]:
    """Yield the exchanges with their numbers, in the order of their requests.

    Args:
        exchanges: in the order in which they ended.
        order: `Index.order`.
        limit: bytes of messages to hold back at most.

    Raises:
        TooLarge: The limit is exceeded.

    >>> late, early = (Exchange(ts, 1, "", "a", 1, 3, 0, 0, 0) for ts in (5, 4))
    >>> [(number, found.ts) for number, found in in_order([late, early], [1, 0])]
    [(1, 4), (0, 5)]
    """
    waiting: dict[int, Exchange] = {}
    held = 0
    remaining_numbers = iter(order)
    next_number = next(remaining_numbers, None)
    for number, exchange in enumerate(exchanges):
        waiting[number] = exchange
        held += _size(exchange)
        while next_number is not None and next_number in waiting:
            ready = waiting.pop(next_number)
            held -= _size(ready)
            yield next_number, ready
            next_number = next(remaining_numbers, None)
        if held > limit:
            raise TooLarge(f"more than {limit >> 20} MiB of messages during one long exchange")


def _size(exchange: Exchange) -> int:
    return exchange.request_size + (exchange.response_size or 0)
