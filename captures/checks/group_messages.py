"""Define an answered request of a group, in the terms of Kafka's groups, for Kafka and for dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from barnabas.captures.checks.facts import GROUP
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.dialects.keys import of_key
from barnabas.specs.keys import HEARTBEAT


class GroupMessage(NamedTuple):
    """A request about a group with its response, in the fields of Kafka's groups.

    A dialect's messages are translated to these fields (`barnabas.captures.checks.dialect_groups`). Times are
    ns since the epoch.
    """

    exchange: Exchange
    """The exchange of the message, which findings show."""
    group: str
    request: dict[str, Any]
    """Fields as in `facts.GroupFields`."""
    response: dict[str, Any]
    end: int
    """When the client received the response."""
    key: int
    """The key of the Kafka API."""
    error: str
    """Kafka's name of the error; empty: none."""
    ts: int
    """When the client sent the request."""
    type: str = "classic"
    """The type of the group: classic, or the name of a dialect."""
    partitions: tuple[tuple[str, int | str, int], ...] = ()
    """For dialects: topic, partition and offset (-1: none) that a JoinGroup assigns or an OffsetCommit
    commits."""

    @classmethod
    def of(cls, exchange: Exchange) -> Self | None:
        """Return the group message of one of Kafka's exchanges; None: no response, or it can't be read."""
        (request, response), end = GROUP.of(exchange) or (None, None), exchange.answered
        if not request or not response or end is None:
            return None
        fields = exchange, request["group_id"], request, response, end
        return cls(*fields, exchange.key, exchange.error or "", exchange.ts)


ReadGroupMessages = Callable[[Exchange], Iterable[GroupMessage]]
"""Returns the group messages of an exchange, in order; called with each exchange, in the order in which they
end."""


def unanswered(exchange: Exchange, group: str, member: str, generation: int = -1) -> GroupMessage:
    """Return the group message of a dialect's request without a response.

    It only has the member and its generation. Kafka's own requests without a response are ignored.
    """
    request = {"member_id": member, "generation_id": generation}
    type_ = of_key(exchange.key)[0].name
    end = exchange.end
    return GroupMessage(exchange, group, request, {}, end, HEARTBEAT, "", exchange.ts, type_)
