"""Formats numbers, times and names for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

NOTHING = "–"

_UNITS = (
    (1000, 1, "ms"),
    (120_000, 1000, "s"),
    (7_200_000, 60_000, "min"),
    (172_800_000, 3_600_000, "h"),
    (math.inf, 86_400_000, "days"),
)
"""The milliseconds below which a unit is used, milliseconds per unit, and its name."""


def duration(ms: float | None) -> str:
    """Return milliseconds as a short text.

    >>> duration(0.2512), duration(38.81), duration(2500), duration(600_000), duration(None)
    ('0.25 ms', '38.8 ms', '2.5 s', '10 min', '–')
    >>> duration(9_000_000), duration(361_000_000)
    ('2.5 h', '4.18 days')
    """
    if ms is None or math.isnan(ms):
        return NOTHING
    if ms < 1:
        return f"{ms:.2f} ms"
    _, unit, name = next((unit_row for unit_row in _UNITS if ms < unit_row[0]), _UNITS[-1])
    return f"{ms / unit:.3g} {name}"


def clock(moment: datetime | None) -> str:
    """Return the time of day, to the millisecond.

    >>> clock(datetime(2026, 11, 21, 14, 5, 5, 123456))
    '14:05:05.123'
    """
    return NOTHING if moment is None else moment.strftime("%H:%M:%S.%f")[:-3]


def clock_span(*rows: Mapping[str, Any]) -> str:
    """Return the time of rows with `start` and `end`, to the millisecond.

    >>> clock_span({"start": datetime(2026, 1, 1, 9), "end": datetime(2026, 1, 1, 9, 30)})
    'from 09:00:00.000 to 09:30:00.000'
    >>> clock_span({"start": datetime(2026, 1, 1, 9), "end": datetime(2026, 1, 2, 9, 30)})
    'from 2026-01-01 09:00:00.000 to 2026-01-02 09:30:00.000'
    """
    start, end = min(row["start"] for row in rows), max(row["end"] for row in rows)
    form = clock if start.date() == end.date() else cell
    return f"from {form(start)} to {form(end)}"


def ms_between(start: datetime, end: datetime) -> float:
    """Return the milliseconds from one time to another."""
    return (utc(end) - utc(start)).total_seconds() * 1000


def utc(moment: datetime) -> datetime:
    """Return the moment in UTC without a time zone, as plots and tables of the report use it."""
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def cell(value: Any) -> str:
    """Return a value of a table as text.

    >>> cell(1234567), cell(0.123456), cell(True), cell(None), cell(["a", "b"])
    ('1,234,567', '0.123', 'yes', '–', 'a, b')
    """
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, datetime):
        return f"{utc(value):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value)) or NOTHING
    return str(value)


def _float(value: float) -> str:
    if math.isnan(value):
        return NOTHING
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def name(value: Any) -> str:
    """Return the name of a client or member, which may be missing.

    >>> name(None), name("orders")
    ('(no name)', 'orders')
    """
    return str(value) if value else "(no name)"


def client(row: Mapping[str, Any]) -> str:
    """Return the name of a row's client."""
    return name(row["client_id"])


def member(row: Mapping[str, Any]) -> str:
    """Return a member's name: the client id, and the end of the member id.

    >>> member({"client_id": "orders", "member": "orders-46a07012-dc2c-4969-9e25-dbf60a183219"})
    'orders 183219'
    """
    return f"{client(row)} {str(row['member'] or '')[-6:]}".strip()


def partition(row: Mapping[str, Any]) -> str:
    """Return the name of a row's partition.

    >>> partition({"topic": "orders", "partition": 3})
    'orders[3]'
    """
    return f"{row['topic']}[{row['partition']}]"


def percent(share: float) -> str:
    """Return a share of 1 as text.

    >>> percent(0.256)
    '26%'
    """
    return f"{share:.0%}"


def listed(names: Iterable[Any], most: int = 3) -> str:
    """Return names as text: the first few, and the number of the others.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    distinct = [*dict.fromkeys(map(name, names))]
    if len(distinct) <= most + 1:
        return ", ".join(distinct)
    return f"{', '.join(distinct[:most])} and {len(distinct) - most} more"
