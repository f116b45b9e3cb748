"""Messages over a window of time: when each arrived at the proxy, and when it left.

The same two times whatever a rule did: a delayed one leaves later, a dropped one never, and of two that were
reordered the one that arrived first leaves last. Of an exchange that is not over there is what has come so
far, and its number is negative. Frames that the proxy repeats or injects are no messages of a client or
broker, and are not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.exchange import STRAY, Exchange
from barnabas.captures.kafka.notes import WAITS
from barnabas.captures.kafka.wording import shorten
from barnabas.specs.frames import Direction

MOST: Final = 2000
"""Messages of one answer."""

RECENT: Final = 100
"""Exchanges that are shown where no window is named: the last ones."""

NAME: Final = 256
"""Characters of a client id that a lane is named by."""

PLACES: Final = 20
"""Bits of a request's place on its connection that tell it from others."""

ONE_SIDE: Final = "captured on one side only: when it left is not known"
MADE: Final = "made by the proxy"


class Message(NamedTuple):
    """A request or a response. Times are ns since the epoch."""

    at: int
    """When it was first seen, at the proxy."""
    number: int
    """Of its exchange; negative: that is not over."""
    direction: Direction
    arrived: int | None
    """None: the proxy made it."""
    left: int | None
    """None: it did not, or nobody knows."""
    reason: str
    """Why a time is None."""
    exchange: Exchange

    def row(self) -> dict[str, Any]:
        """In JSON form, times as text. `lost`: it is known that it never left. `waits`: it is still in the
        proxy. `error` is a response's (`Exchange.error`); when it began and ended, its rules and its note are
        the exchange's."""
        exchange, asks = self.exchange, self.direction == "request"
        node, waits = exchange.node, self.reason == WAITS
        kind = "broker" if exchange.controller is None else "controller"
        return {
            "number": self.number,
            "direction": self.direction,
            "connection": exchange.connection,
            "client": shorten(exchange.client, NAME),
            "broker": exchange.server_address if node is None else f"{kind} {node}",
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
    """The request of an exchange, and its response if one came."""
    ts, sent, note = exchange.ts, exchange.sent, exchange.note
    if not exchange.inferred and exchange.key != STRAY:
        reason = "" if sent else ONE_SIDE if sent is None else note
        yield Message(ts, number, "request", ts, sent or None, reason, exchange)
    if exchange.response_size is None:
        return
    came, left = exchange.received, exchange.answered
    if exchange.inferred:
        came, reason = ts, note
    elif sent is None:
        came, left, reason = came or left, None, ONE_SIDE
    else:
        reason = note if left is None else MADE if came is None else ""
    yield Message(came or left or ts, number, "response", came, left, reason, exchange)


def numbered(under_way: Iterable[Exchange], now: int) -> Iterator[tuple[int, Exchange]]:
    """Exchanges that are not over, as they stand now, with numbers that stay theirs until they are."""
    for exchange in under_way:
        exchange.ended = now
        yield -1 - (exchange.connection << PLACES | exchange.ordinal % (1 << PLACES)), exchange


def sequence(
    several: Iterable[tuple[int, Exchange]],
    begin: int | None = None,
    end: int | None = None,
    connection: int | None = None,
    most: int = MOST,
) -> dict[str, Any]:
    """The messages that were at the proxy at some time from `begin` to before `end`, in the order in which
    they arrived: the first `most`, and how many were left out. Without `begin` or `end`: from the last
    exchanges that are over on, and to the end of all.

    >>> sequence([])["messages"]
    []
    """
    wanted = [one for one in several if connection in (None, one[1].connection)]
    first = min((exchange.ts for _, exchange in wanted), default=0)
    last = max((exchange.end for _, exchange in wanted), default=0)
    if begin is None:
        over = [exchange.ts for number, exchange in wanted if number >= 0]
        begin = min(over[-RECENT:], default=first)
    if end is None:
        end = last + 1
    shown = [
        message
        for number, exchange in wanted
        if exchange.ts < end and (not exchange.ended or exchange.ended >= begin)
        for message in messages(number, exchange)
        if message.at < end and ((message.left or message.at) >= begin or message.reason == WAITS)
    ]
    return {
        "from": str(begin),
        "to": str(end),
        "first": str(first),
        "last": str(last),
        "messages": [one.row() for one in nsmallest(most, shown, key=lambda one: one[:3])],
        "left_out": max(0, len(shown) - most),
    }
