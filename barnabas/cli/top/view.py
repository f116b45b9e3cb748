"""The choices of the person in front of `barnabas top`, and the keys that change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.wording import size
from barnabas.cli.console.show import ms

ERRORS: Final = ("errors_per_s", "unanswered_per_s")
"""Fields whose values are red if they are not 0."""


class Column(NamedTuple):
    """A column of a table."""

    title: str
    field: str
    text: Callable[[Any], str]
    least: int = 0
    """The cells of a terminal from which on it is shown."""


def rate(value: float) -> str:
    """Format a rate: two digits at least.

    >>> rate(0), rate(0.25), rate(12.34), rate(12345.6)
    ('0', '0.25', '12.3', '12,346')
    """
    if value == 0:
        return "0"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _bytes(value: float) -> str:
    return size(round(value))


def _count(value: int) -> str:
    return f"{value:,}"


PER_S: Final = Column("req/s", "per_s", rate)
ERRORS_PER_S: Final = Column("errors/s", "errors_per_s", rate)
UNANSWERED: Final = Column("unanswered/s", "unanswered_per_s", rate, 140)
FAULTS: Final = Column("faults/s", "faults_per_s", rate, 120)
BYTES: Final = Column("bytes/s", "bytes_per_s", _bytes, 100)
P50: Final = Column("p50", "p50_ms", ms)
P99: Final = Column("p99", "p99_ms", ms)
LONGEST: Final = Column("max", "max_ms", ms, 110)
TOTAL: Final = Column("total", "count", _count, 100)

TABLES: Final[Mapping[str, tuple[Column, ...]]] = MappingProxyType(
    {
        "clients": (
            Column("client", "name", str),
            *(PER_S, ERRORS_PER_S, UNANSWERED, FAULTS, BYTES, P50, P99, LONGEST, TOTAL),
            Column("last API", "last_api", str),
        ),
        "topics": (
            Column("topic", "name", str),
            *(PER_S, ERRORS_PER_S),
            Column("written/s", "write_records_per_s", rate, 70),
            Column("bytes in/s", "write_bytes_per_s", _bytes),
            Column("read/s", "read_records_per_s", rate, 70),
            Column("bytes out/s", "read_bytes_per_s", _bytes),
            *(P50._replace(least=120), P99._replace(least=120), TOTAL),
        ),
        "groups": (
            Column("group", "name", str),
            Column("members", "members", _count),
            Column("state", "state", str),
            Column("generation", "generation", _count),
            Column("lag", "lag", _count),
            Column("type", "type", str, 80),
            Column("protocol", "protocol", str, 100),
        ),
        "APIs": (
            Column("API", "name", str),
            *(PER_S, ERRORS_PER_S, UNANSWERED, FAULTS, BYTES, P50, P99, LONGEST, TOTAL),
        ),
    }
)
"""The tables by title. A snapshot has their rows under the title in lower case."""

TITLES: Final = tuple(TABLES)

STEPS: Final[Mapping[str, int]] = MappingProxyType(
    {**dict.fromkeys((">", ".", "right", "s"), 1), **dict.fromkeys(("<", ",", "left", "S"), -1)}
)
"""How far a key moves the column that sorts."""


@dataclass(frozen=True, slots=True)
class View:
    """The choices of a person: the table, the order of rows, the filter."""

    selected: str = TITLES[0]
    """The table whose order the keys change."""
    alone: bool = False
    """Whether only the selected table is shown."""
    orders: Mapping[str, int] = field(
        default_factory=lambda: MappingProxyType(dict.fromkeys(TITLES, 1))
    )
    """By table: the index of the column that sorts it."""
    filter: str = ""
    """A text that the names of shown rows contain."""
    is_typing: bool = False
    """Whether keys are added to the filter."""
    is_paused: bool = False
    is_over: bool = False
    """Whether the person has quit."""

    def press(self, key: str) -> View:
        """Return the view after a key: a character, or left, right, tab, enter, escape, backspace.

        >>> View().press("3").selected, View().press("p").is_paused, View().press("q").is_over
        ('groups', True, True)
        """
        if self.is_typing:
            return self._typed(key)
        change: dict[str, Any] = {}
        match key:
            case "q" | "Q":
                change = {"is_over": True}
            case "p" | " ":
                change = {"is_paused": not self.is_paused}
            case "/":
                change = {"is_typing": True, "filter": ""}
            case "escape":
                change = {"alone": False, "filter": ""}
            case "0" | "1" | "2" | "3" | "4":
                chosen = self.selected if key == "0" else TITLES[int(key) - 1]
                change = {"alone": key != "0", "selected": chosen}
            case "tab":
                change = {"selected": TITLES[(TITLES.index(self.selected) + 1) % len(TITLES)]}
            case _ if key in STEPS:
                change = {"orders": self._orders(STEPS[key])}
        return replace(self, **change)

    def _typed(self, key: str) -> View:
        match key:
            case "enter":
                return replace(self, is_typing=False)
            case "escape":
                return replace(self, is_typing=False, filter="")
            case "backspace":
                return replace(self, filter=self.filter[:-1])
        return replace(self, filter=self.filter + key) if len(key) == 1 else self

    def _orders(self, step: int) -> Mapping[str, int]:
        """Return the columns that sort after moving the selected table's column."""
        index = (self.orders[self.selected] + step) % len(TABLES[self.selected])
        return MappingProxyType({**self.orders, self.selected: index})

    def rows(self, title: str, snapshot: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows of a table that pass the filter, from the highest number or the first text."""
        column = TABLES[title][self.orders[title]].field
        shown = [
            row for row in snapshot[title.lower()] if self.filter.lower() in row["name"].lower()
        ]
        shown.sort(key=lambda row: (-row.get("per_s", 0), row["name"]))
        if any(isinstance(row[column], str) for row in shown):
            return sorted(shown, key=lambda row: (row[column] is None, row[column] or ""))
        return sorted(
            shown, key=lambda row: -1 if row[column] is None else row[column], reverse=True
        )
