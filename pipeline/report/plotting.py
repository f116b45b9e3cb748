"""What the plots have in common: colours, axes, times as plotly takes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from barnabas.pipeline.report.parts import Row
from barnabas.pipeline.report.wording import name, utc

PALETTE: Final = (
    *("#4c8dd6", "#e8833a", "#3fa77a", "#b36ad0", "#d95a64"),
    *("#2fa9b8", "#c79a2b", "#8a8f98", "#e277ae", "#7a9a3b"),
)
"""Of a tone that is seen on white and on black; after the last the first comes again."""

RED, AMBER, GREEN, BLUE, GREY = "#d95a64", "#e2a336", "#3fa77a", "#4c8dd6", "#8a8f98"

MOST: Final = 10
"""Lines of a plot; a person can't tell more colours apart."""

FEW: Final = 6
"""Up to so many each count has its tick."""

LONGEST: Final = 40
"""Characters of a name in a legend."""


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name, by their order."""
    return {one: PALETTE[number % len(PALETTE)] for number, one in enumerate(dict.fromkeys(names))}


def most(counted: Counter[Any], count: int = MOST) -> list[Any]:
    """Those with the highest counts, the highest first; of equals the first by name.

    >>> most(Counter({"b": 2, "c": 3, "a": 2}), 2)
    ['c', 'a']
    """
    ranked = sorted(counted.items(), key=lambda item: (-item[1], str(item[0])))
    return [one for one, _ in ranked[:count]]


def moment(value: datetime) -> str:
    """A time as plotly takes it, in UTC."""
    return utc(value).isoformat(sep=" ", timespec="microseconds")


def grid(moments: Iterable[datetime]) -> list[datetime]:
    """The buckets, and in each pause an empty one at both ends: a line ends there.

    Those of one capture may be wider than those of another, and years lie between the two.

    >>> [at.second for at in grid(datetime(2026, 1, 1, 0, 0, second) for second in (1, 3, 30))]
    [1, 3, 5, 28, 30]
    """
    known = sorted(set(moments))
    pauses = [after - before for before, after in pairwise(known)]
    widths = [min(pauses[max(0, at - 1) : at + 1], default=None) for at in range(len(known))]
    found = set(known)
    for (before, after), sides in zip(pairwise(known), pairwise(widths), strict=True):
        width = min(filter(None, sides))
        if after - before > width:
            found |= {before + width, after - width}
    return sorted(found)


def label(text: str) -> str:
    """What stands in a legend: its middle is left out if it is long, since ends tell names apart.

    >>> label("consumer-orders-service-1-9a4b5c0d-0000-1111-2222-333344445555")
    'consumer-orders-ser…1111-2222-333344445555'
    """
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[: half - 1]}…{text[-half - 2 :]}"


def member(row: Row) -> str:
    """Who it is: members of one client id are told apart by the end of their member id.

    >>> member({"client_id": "orders", "member": "orders-46a07012-dc2c-4969-9e25-dbf60a183219"})
    'orders 183219'
    """
    return f"{name(row['client_id'])} {str(row['member'] or '')[-6:]}".strip()


def time_axis(**more: Any) -> dict[str, Any]:
    """An axis of times."""
    return {"type": "date", "hoverformat": "%H:%M:%S.%L", **more}


def counts_axis(highest: float, **more: Any) -> dict[str, Any]:
    """An axis of counts: from 0, and no halves of one."""
    steps = {"dtick": 1} if highest <= FEW else {}
    return {"rangemode": "tozero", **steps, **more}


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """An axis of names, the first at the top. `page.js` shortens what stands at it."""
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [*dict.fromkeys(names)][::-1],
        "automargin": True,
    }


def bars_height(count: int) -> int:
    """Pixels for so many horizontal bars."""
    return 130 + 26 * max(count, 2)
