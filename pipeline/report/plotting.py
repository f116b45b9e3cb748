"""Common parts of plots: colours, axes, times for plotly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from barnabas.pipeline.report.wording import utc

PALETTE: Final = (
    *("#4c8dd6", "#e8833a", "#3fa77a", "#b36ad0", "#d95a64"),
    *("#2fa9b8", "#c79a2b", "#8a8f98", "#e277ae", "#7a9a3b"),
)
"""Colours that are visible on white and on black; after the last one the first is used again."""

RED, AMBER, GREEN, GREY = "#d95a64", "#e2a336", "#3fa77a", "#8a8f98"

MOST: Final = 10
"""The most lines of a plot; people can't distinguish more colours."""

FEW: Final = 6
"""Up to this count each number has its tick."""

LONGEST: Final = 40
"""Characters of a name in a legend."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each name, in order."""
    return {
        each: PALETTE[number % len(PALETTE)] for number, each in enumerate(dict.fromkeys(names))
    }


def moment(value: datetime) -> str:
    """Return a time in plotly's format, in UTC."""
    return utc(value).isoformat(sep=" ", timespec="microseconds")


def grid(moments: Iterable[datetime]) -> list[datetime]:
    """Return the buckets, and an empty one at both ends of each pause, where a line ends.

    Captures may have buckets of different widths, and years between them.

    >>> [at.second for at in grid(datetime(2026, 1, 1, 0, 0, second) for second in (1, 3, 30))]
    [1, 3, 5, 28, 30]
    """
    moments_in_order = sorted(set(moments))
    pauses = [after - before for before, after in pairwise(moments_in_order)]
    widths = [
        min(pauses[max(0, at - 1) : at + 1], default=None) for at in range(len(moments_in_order))
    ]
    points = set(moments_in_order)
    for (before, after), sides in zip(pairwise(moments_in_order), pairwise(widths), strict=True):
        width = min(filter(None, sides))
        if after - before > width:
            points |= {before + width, after - width}
    return sorted(points)


def label(text: str) -> str:
    """Return a name for a legend; a long one loses its middle, since ends distinguish names.

    >>> label("consumer-orders-service-1-9a4b5c0d-0000-1111-2222-333344445555")
    'consumer-orders-ser…1111-2222-333344445555'
    """
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[: half - 1]}…{text[-half - 2 :]}"


TIME_AXIS: Final = {"type": "date", "hoverformat": "%H:%M:%S.%L"}

LOG_MS: Final = {"type": "log", "title": {"text": "ms"}, "tickformat": "~g"}
"""An axis of durations."""


def counts_axis(highest: float, **more: Any) -> dict[str, Any]:
    """Return an axis of counts: from 0, without fractions."""
    steps = {"dtick": 1} if highest <= FEW else {}
    return {"rangemode": "tozero", **steps, **more}


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """Return an axis of names, in this order. `page.js` shortens long ones."""
    order = {"categoryorder": "array", "categoryarray": names}
    return {"type": "category", "automargin": True, **order}


def by_name(
    names: Iterable[str], xaxis: Mapping[str, Any], **more: Any
) -> tuple[dict[str, Any], int]:
    """Return the layout of a plot of named rows, the first at the top, and its height in pixels."""
    distinct = [*dict.fromkeys(names)]
    height = 130 + 26 * max(len(distinct), 2)
    return {"xaxis": xaxis, "yaxis": names_axis(distinct[::-1]), **more}, height


def over_time(yaxis: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return the layout of a plot over time, with the values at a time in one box.

    Colours go by index, so that lines that pass the filter differ.
    """
    layout = {"colorway": PALETTE, "xaxis": TIME_AXIS, "yaxis": yaxis, "hovermode": "x unified"}
    return layout | more


def line(
    title: str, times: Iterable[datetime], values: Sequence[float | None], **more: Any
) -> dict[str, Any]:
    """Return a line over time."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "marker": {"size": 5},
        "name": title,
        "x": [moment(at) for at in times],
        "y": values,
        **more,
    }


def bars(names: Sequence[str], values: Sequence[float | None], **more: Any) -> dict[str, Any]:
    """Return horizontal bars."""
    return {"type": "bar", "orientation": "h", "y": names, "x": values, **more}
