"""What the reader's filter goes by: client, topic, group and time of a row, by the names of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from barnabas.captures.kafka.wording import printable
from barnabas.pipeline.report.parts import Row
from barnabas.pipeline.report.wording import name, utc

COLUMNS: Final = {"client_id": "client", "client": "client", "topic": "topic", "group": "group"}

SPANS: Final = (("start", "end"), ("first_ts", "last_ts"), ("ts", "ts"), ("bucket", "bucket"))
"""From when until when: the first that a row has."""

TOLD: Final = 100
"""A sentence about more clients, topics or groups is of all."""

Marks = Mapping[str, Any]

EPOCH: Final = utc(datetime.fromtimestamp(0, UTC))


def marks(row: Row) -> dict[str, Any]:
    """Those that the row has; times in ms since the epoch.

    >>> marks({"client_id": None, "topic": "orders", "ts": datetime(1970, 1, 1, 0, 0, 1)})
    {'client': '(no name)', 'topic': 'orders', 'from': 1000, 'to': 1000}
    """
    found: dict[str, Any] = {
        mark: printable(name(row[column])) for column, mark in COLUMNS.items() if column in row
    }
    for begins, ends in SPANS:
        if begins in row and ends in row:
            if row[begins] is not None and row[ends] is not None:
                found |= {"from": since_epoch(row[begins]), "to": since_epoch(row[ends])}
            break
    return found


def each(found: Sequence[Row]) -> Marks:
    """Of the points of a trace, which are of these rows: a list for each."""
    known = [marks(row) for row in found]
    return {mark: [one.get(mark) for one in known] for mark in (known[0] if known else ())}


def together(found: Iterable[Row]) -> dict[str, Any]:
    """Those of a sentence about several rows: what they do not have in common as a list.

    >>> together([{"client_id": one, "topic": "orders"} for one in ("b", "a", "b")])
    {'client': ['a', 'b'], 'topic': 'orders'}
    """
    known = [marks(row) for row in found]
    said: dict[str, Any] = {}
    for mark in dict.fromkeys(COLUMNS.values()):
        names = sorted({one[mark] for one in known if mark in one})
        if 0 < len(names) <= TOLD:
            said[mark] = names if len(names) > 1 else names[0]
    times = [(one["from"], one["to"]) for one in known if "from" in one]
    if times and len(times) == len(known):
        said |= {"from": min(begins for begins, _ in times), "to": max(ends for _, ends in times)}
    return said


def since_epoch(moment: datetime) -> int:
    """Milliseconds, as the browser has them."""
    return (utc(moment) - EPOCH) // timedelta(milliseconds=1)
