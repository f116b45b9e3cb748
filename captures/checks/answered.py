"""An exchange about a group that was answered, in the words of Kafka's own groups, whatever it is of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

from barnabas.captures.checks.facts import GROUP
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.dialects.keys import of_key
from barnabas.specs.keys import HEARTBEAT


class Answered(NamedTuple):
    """What one says of a group: of Kafka's it is the message itself, of a dialect's what it comes to
    (`barnabas.captures.checks.dialect_groups`). Times are ns since the epoch."""

    exchange: Exchange
    """Whose it is: where it is shown, that is what is shown."""
    group: str
    request: dict[str, Any]
    """As `facts.Said` has it."""
    response: dict[str, Any]
    end: int
    """When the client had the answer."""
    key: int
    """The API of Kafka's."""
    error: str
    """Kafka's name of it; empty: none."""
    ts: int
    """When the client asked."""
    type: str = "classic"
    """Of the group: classic, or the name of a dialect."""
    partitions: tuple[tuple[str, int | str, int], ...] = ()
    """Of a dialect: topic, partition and offset (-1: none). JoinGroup gives, OffsetCommit stores them."""

    @classmethod
    def of(cls, exchange: Exchange) -> Self | None:
        """None: it was not answered, or can't be read."""
        (request, response), end = GROUP.of(exchange) or (None, None), exchange.answered
        if not request or not response or end is None:
            return None
        about = exchange, request["group_id"], request, response, end
        return cls(*about, exchange.key, exchange.error or "", exchange.ts)


Read = Callable[[Exchange], Iterable[Answered]]
"""What an exchange says of groups, in order; each one is shown to it, in the order in which they end."""


def unanswered(exchange: Exchange, group: str, member: str, generation: int = -1) -> Answered:
    """Of a dialect's request without an answer: whose it is, and nothing else. Kafka's are not read so."""
    request = {"member_id": member, "generation_id": generation}
    type_ = of_key(exchange.key)[0].name
    end = exchange.end
    return Answered(exchange, group, request, {}, end, HEARTBEAT, "", exchange.ts, type_)
