"""Rows of differing exchanges, for the JSON of commands that compare exchanges."""

from __future__ import annotations

from barnabas.captures.diff.bodies import ABSENT, Difference
from barnabas.captures.kafka.exchange import Exchange

_COLUMNS = ("ts", "connection", "client_id", "broker", "api", "version", "correlation_id", "error")


def where(exchange: Exchange) -> dict[str, object]:
    """Return the columns that identify an exchange."""
    return exchange.row(_COLUMNS)


def document(difference: Difference, left_name: str, right_name: str) -> dict[str, object]:
    """Return a difference with its two values under the names of the sides.

    A side that lacks the field is left out.

    >>> document(Difference("topics[0].name", "a", ABSENT), "recorded", "live")
    {'path': 'topics[0].name', 'recorded': 'a'}
    """
    sides = {left_name: difference.left, right_name: difference.right}
    return {"path": difference.path} | {
        side: value for side, value in sides.items() if value is not ABSENT
    }
