"""Numbers, times and names as a person reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
"""Milliseconds below which a unit is used, how many it is, and its name."""


def duration(ms: float | None) -> str:
    """Milliseconds, short.

    >>> duration(0.2512), duration(38.81), duration(2500), duration(600_000), duration(None)
    ('0.25 ms', '38.8 ms', '2.5 s', '10 min', '–')
    >>> duration(9_000_000), duration(361_000_000)
    ('2.5 h', '4.18 days')
    """
    if ms is None or math.isnan(ms):
        return NOTHING
    if ms < 1:
        return f"{ms:.2f} ms"
    _, unit, name = next((one for one in _UNITS if ms < one[0]), _UNITS[-1])
    return f"{ms / unit:.3g} {name}"


def clock(moment: datetime | None) -> str:
    """The time of day, to the millisecond.

    >>> clock(datetime(2026, 11, 21, 14, 5, 5, 123456))
    '14:05:05.123'
    """
    return NOTHING if moment is None else moment.strftime("%H:%M:%S.%f")[:-3]


def utc(moment: datetime) -> datetime:
    """The moment in UTC, without saying so: what plots and tables of the report have."""
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def cell(value: Any) -> str:
    """A value of a table.

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
    """A client's or member's name, which may be missing.

    >>> name(None), name("orders")
    ('(no name)', 'orders')
    """
    return str(value) if value else "(no name)"


def listed(names: Iterable[Any], most: int = 3) -> str:
    """Names, of which a few are said.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    known = [*dict.fromkeys(map(name, names))]
    if len(known) <= most + 1:
        return ", ".join(known)
    return f"{', '.join(known[:most])} and {len(known) - most} more"
