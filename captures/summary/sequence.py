"""List messages in a time window: when each arrived at the proxy, and when it left.

These two times show the work of every rule: a delayed message leaves later, a dropped one never, and of two
reordered messages the one that arrived first leaves last. An unfinished exchange has the messages so far, and
its number is negative. Frames that the proxy repeats or injects are not messages of a client or broker, and
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.notes import WAITS
from barnabas.captures.kafka.wording import shorten
from barnabas.captures.summary.sequence_selection import (
    EVERYTHING,
    NAME,
    Selection,
    broker_name,
    choices,
)
from barnabas.specs.frames import Direction

MOST: Final = 2000
"""Messages of one response."""

RECENT: Final = 100
"""Exchanges that are shown without a window: the latest ones."""

PLACES: Final = 20
"""Bits of a request's index on its connection in the number of an unfinished exchange."""

ONE_SIDE: Final = "captured on one side only: departure not known"
MADE: Final = "made by the proxy"


class Message(NamedTuple):
    """A request or a response. Times are ns since the epoch."""

    at: int
    """When the proxy first had it."""
    number: int
    """The number of its exchange; negative: unfinished."""
    direction: Direction
    arrived: int | None
    """None: the proxy made it."""
    left: int | None
    """None: it did not leave, or that is unknown."""
    reason: str
    """Why a time is None."""
    exchange: Exchange

    def row(self) -> dict[str, Any]:
        """Return the message in JSON form, with times as text.

        `lost`: it certainly never left. `waits`: it is still in the proxy. `error` is the error of a response
        (`Exchange.error`). `began`, `ended`, `rules` and `note` are those of the exchange.
        """
        exchange, asks = self.exchange, self.direction == "request"
        waits = self.reason == WAITS
        return {
            "number": self.number,
            "direction": self.direction,
            "connection": exchange.connection,
            "client": shorten(exchange.client, NAME),
            "broker": broker_name(exchange),
            "api": exchange.api,
            "version": exchange.version,
            "correlation_id": exchange.correlation_id,
            "arrived": None if self.arrived is None else str(self.arrived),
            "left": None if self.left is None else str(self.left),
            "began": str(exchange.ts),
            "ended": str(exchange.end),
            "lost": not (self.left or waits or exchange.sent is None or exchange.inferred),
            "waits": waits,
            "reason": self.reason,
            "size": exchange.request_size if asks else exchange.response_size,
            "error": None if asks else exchange.error,
            "rules": list(exchange.rules),
            "note": exchange.note,
        }


def messages(number: int, exchange: Exchange) -> Iterator[Message]:
    """Yield the request of an exchange, and its response if one arrived."""
    ts, sent, note = exchange.ts, exchange.sent, exchange.note
    if not exchange.inferred and exchange.key != STRAY:
        reason = "" if sent else ONE_SIDE if sent is None else note
        yield Message(ts, number, "request", ts, sent or None, reason, exchange)
    if exchange.response_size is None:
        return
    arrived, departed = exchange.received, exchange.answered
    if exchange.inferred:
        arrived, reason = ts, note
    elif sent is None:
        arrived, departed, reason = arrived or departed, None, ONE_SIDE
    else:
        reason = note if departed is None else MADE if arrived is None else ""
    yield Message(
        arrived or departed or ts, number, "response", arrived, departed, reason, exchange
    )


def numbered(under_way: Iterable[Exchange], now: int) -> Iterator[tuple[int, Exchange]]:
    """Yield unfinished exchanges with numbers that stay the same until they end."""
    for exchange in under_way:
        exchange.ended = now
        yield -1 - (exchange.connection << PLACES | exchange.ordinal % (1 << PLACES)), exchange


def sequence(
    several: Iterable[tuple[int, Exchange]],
    begin: int | None = None,
    end: int | None = None,
    selection: Selection = EVERYTHING,
    most: int = MOST,
) -> dict[str, Any]:
    """Return the messages that were at the proxy from `begin` to before `end`, in order of arrival.

    Args:
        several: Exchanges with their numbers.
        begin: The start of the window in ns since the epoch; None: the latest finished exchanges.
        end: The end of the window in ns since the epoch; None: the end of all exchanges.
        selection: The exchanges to show; `choices` in the result lists what could be selected.
        most: Messages at most; the others are counted in `left_out`.

    >>> sequence([])["messages"]
    []
    """
    exchanges = list(several)
    chosen = [item for item in exchanges if selection.includes(item[1])]
    first = min((exchange.ts for _, exchange in chosen), default=0)
    last = max((exchange.end for _, exchange in chosen), default=0)
    if begin is None:
        over = [exchange.ts for number, exchange in chosen if number >= 0]
        begin = min(over[-RECENT:], default=first)
    if end is None:
        end = last + 1
    visible = [
        message
        for number, exchange in chosen
        if exchange.ts < end and (not exchange.ended or exchange.ended >= begin)
        for message in messages(number, exchange)
        if message.at < end and ((message.left or message.at) >= begin or message.reason == WAITS)
    ]
    return {
        "from": str(begin),
        "to": str(end),
        "first": str(first),
        "last": str(last),
        "messages": [item.row() for item in nsmallest(most, visible, key=lambda item: item[:3])],
        "left_out": max(0, len(visible) - most),
        "choices": choices(exchange for _, exchange in exchanges),
    }
