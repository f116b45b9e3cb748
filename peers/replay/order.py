"""Recorded exchanges in the order of their requests. A capture is read twice: first for the order.

Captures tell of an exchange when it is over; what was asked before it may still be under way then.
"""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.context.id_names import TOPIC, ids_with_names
from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.topics import Needed
from barnabas.specs.keys import SYNC_GROUP

LIMIT: Final = 1 << 30
"""Bytes of messages that wait for one that was asked before them and took longer."""

Generation = tuple[str, int]
"""Group id and generation."""


class TooLarge(ValueError):
    """More waits for an exchange that took long than is kept in memory."""


@dataclass(slots=True)
class Index:
    """What must be known of a recording before the first request is sent."""

    order: array[int] = field(default_factory=lambda: array("q"))
    """The exchanges, by their number in the order in which they ended, in the order of requests: 8 bytes
    of each, however long the recording is."""
    last: dict[int, int] = field(default_factory=dict)
    """Connection -> number of its last exchange in that order."""
    began: int = 0
    """When the first request was sent, in ns since the epoch."""
    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    """Names by the recorded ids."""
    needed: Needed = field(default_factory=Needed)
    """What it asks of topics."""
    assignments: dict[Generation, list[dict[str, Any]]] = field(default_factory=dict)
    """What the leader of a group's generation gave its members."""


def index(exchanges: Iterable[Exchange]) -> Index:
    """Read all exchanges once; nothing but what stands in Index is kept."""
    found = Index()
    times, connections = array("q"), array("q")
    for exchange in exchanges:
        times.append(exchange.ts)
        connections.append(exchange.connection)
        found.topics.update(ids_with_names(exchange, TOPIC))
        found.needed.add(exchange)
        if exchange.key == SYNC_GROUP and exchange.request and exchange.request["assignments"]:
            place = exchange.request["group_id"], exchange.request["generation_id"]
            found.assignments[place] = exchange.request["assignments"]
    found.order = array("q", sorted(range(len(times)), key=times.__getitem__))
    found.last = {connections[number]: number for number in found.order}
    found.began = min(times, default=0)
    return found


def in_order(
    exchanges: Iterable[Exchange], order: Iterable[int], limit: int = LIMIT
) -> Iterator[tuple[int, Exchange]]:
    """The same exchanges again, numbered, in the order of their requests. Raises TooLarge.

    >>> late, early = (Exchange(ts, 1, "", "a", 1, 3, 0, 0, 0) for ts in (5, 4))
    >>> [(number, found.ts) for number, found in in_order([late, early], [1, 0])]
    [(1, 4), (0, 5)]
    """
    waiting: dict[int, Exchange] = {}
    held = 0
    wanted = iter(order)
    turn = next(wanted, None)
    for number, exchange in enumerate(exchanges):
        waiting[number] = exchange
        held += _size(exchange)
        while turn is not None and turn in waiting:
            found = waiting.pop(turn)
            held -= _size(found)
            yield turn, found
            turn = next(wanted, None)
        if held > limit:
            raise TooLarge(f"more than {limit >> 20} MiB of messages during one long exchange")


def _size(exchange: Exchange) -> int:
    return exchange.request_size + (exchange.response_size or 0)
