"""The values that the reader's filter uses: client, topic, group, broker, time of a row, by column name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from barnabas.captures.kafka.wording import printable
from barnabas.pipeline.report.parts import Row
from barnabas.pipeline.report.wording import name, utc

COLUMNS: Final = {
    "client_id": "client",
    "client": "client",
    "topic": "topic",
    "group": "group",
    "broker": "broker",
}

SPANS: Final = (("start", "end"), ("first_ts", "last_ts"), ("ts", "ts"), ("bucket", "bucket"))
"""The columns with start and end; the first pair that a row has is used."""

TOLD: Final = 100
"""A statement about more clients, topics or groups than this is not filtered by them."""

Marks = Mapping[str, Any]

EPOCH: Final = utc(datetime.fromtimestamp(0, UTC))


def marks(row: Row) -> Marks:
    """Return the marks of a row; times in ms since the epoch.

    >>> marks({"client_id": None, "topic": "orders", "ts": datetime(1970, 1, 1, 0, 0, 1)})
    {'client': '(no name)', 'topic': 'orders', 'from': 1000, 'to': 1000}
    """
    values: dict[str, Any] = {
        mark: _mark(mark, row[column]) for column, mark in COLUMNS.items() if column in row
    }
    for begins, ends in SPANS:
        if begins in row and ends in row:
            if row[begins] is not None and row[ends] is not None:
                values |= {"from": since_epoch(row[begins]), "to": since_epoch(row[ends])}
            break
    return values


def _mark(mark: str, value: Any) -> str:
    """Return a value for the filter; empty: the row is about no topic, or no group."""
    if mark == "client":
        return printable(name(value))
    return ("unknown" if mark == "broker" else "") if value is None else printable(str(value))


def of_trace(rows: Row | Sequence[Row]) -> Marks:
    """Return the marks of a trace about a row, or a list for each mark of points about several rows."""
    if isinstance(rows, Mapping):
        return marks(rows)
    points = [marks(row) for row in rows]
    return {mark: [point.get(mark) for point in points] for mark in (points[0] if points else ())}


def together(some_rows: Iterable[Row]) -> Marks:
    """Return the marks of a statement about several rows: differing values become a list.

    >>> together([{"client_id": one, "topic": "orders"} for one in ("b", "a", "b")])
    {'client': ['a', 'b'], 'topic': 'orders'}
    """
    marks_of_rows = [marks(row) for row in some_rows]
    values: dict[str, Any] = {}
    for mark in dict.fromkeys(COLUMNS.values()):
        names = sorted({row_marks[mark] for row_marks in marks_of_rows if mark in row_marks})
        if 0 < len(names) <= TOLD:
            values[mark] = names if len(names) > 1 else names[0]
    timed = [row_marks for row_marks in marks_of_rows if "from" in row_marks]
    if timed and len(timed) == len(marks_of_rows):
        values["from"] = min(row_marks["from"] for row_marks in timed)
        values["to"] = max(row_marks["to"] for row_marks in timed)
    return values


def since_epoch(moment: datetime) -> int:
    """Return milliseconds since the epoch, as the browser uses."""
    return (utc(moment) - EPOCH) // timedelta(milliseconds=1)
