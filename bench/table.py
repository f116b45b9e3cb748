"""Medians, percentiles and ratios, and how they are shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that a share of the values does not exceed (nearest rank).

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50), percentile([4.0, 1.0, 3.0, 2.0], 99)
    (2.0, 4.0)
    """
    if not values:
        return math.nan
    ranked = sorted(values)
    return ranked[max(math.ceil(len(ranked) * percent / 100) - 1, 0)]


def ratio(value: float, base: float) -> float:
    """Return value / base, or NaN if the base is unknown or 0."""
    return value / base if base else math.nan


def beside(text: str, value: float, base: float) -> str:
    """Format a figure and, in brackets, its ratio to that of the first line.

    >>> beside("50", 50.0, 200.0), beside("50", 50.0, math.nan)
    ('50 (0.25)', '50')
    """
    times = ratio(value, base)
    return text if math.isnan(times) else f"{text} ({times:.2f})"


def microseconds(seconds: float) -> str:
    """Format a duration in microseconds.

    >>> microseconds(0.0000123), microseconds(0.0123), microseconds(math.nan)
    ('12.3', '12,300', '-')
    """
    us = seconds * 1e6
    if math.isnan(us):
        return "-"
    return f"{us:,.0f}" if us >= 100 else f"{us:.1f}"


def plain_table(title: str, caption: str = "", columns: Iterable[str] = ()) -> Table:
    """Return an empty table that fits 80 columns better than rich's own.

    Args:
        title: the line above.
        caption: the line below.
        columns: the heading of the row's name, then those of the figures.
    """
    made = Table(
        title=title,
        caption=caption,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for folder, name in enumerate(columns):
        made.add_column(name, justify="right" if folder else "left", no_wrap=not folder)
    return made


def as_json(table: Table) -> list[dict[str, str]]:
    """Return the rows of a table, each by the names of its columns.

    >>> made = plain_table("codecs", columns=("", "µs"))
    >>> made.add_row("ours", "12 (1.00)")
    >>> as_json(made)
    [{'': 'ours', 'µs': '12 (1.00)'}]
    """
    names = [str(column.header) for column in table.columns]
    cells = zip(*(map(str, column.cells) for column in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in cells]
