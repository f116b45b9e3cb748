"""How commands that compare exchanges write one in JSON, and what is different in it."""

from __future__ import annotations

from barnabas.captures.diff.bodies import ABSENT, Difference
from barnabas.captures.kafka.exchange import Exchange

_COLUMNS = ("ts", "connection", "client_id", "broker", "api", "version", "correlation_id", "error")


def where(exchange: Exchange) -> dict[str, object]:
    """Which exchange it is."""
    return exchange.row(_COLUMNS)


def document(found: Difference, left: str, right: str) -> dict[str, object]:
    """A difference, its two sides under these names; one that lacks the field is left out.

    >>> document(Difference("topics[0].name", "a", ABSENT), "recorded", "live")
    {'path': 'topics[0].name', 'recorded': 'a'}
    """
    sides = {left: found.left, right: found.right}
    return {"path": found.path} | {
        side: value for side, value in sides.items() if value is not ABSENT
    }
