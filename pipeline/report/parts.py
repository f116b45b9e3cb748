"""What a section is made of. Sections return these; only `page` makes HTML, and escapes all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from barnabas.pipeline.report.wording import listed

Row = Mapping[str, Any]
"""A row of an analysis, by the names of its columns; times are datetimes in UTC."""


class Result(NamedTuple):
    """What an analysis found, as much of it as the report takes."""

    rows: Sequence[Row]
    total: int
    """How many rows it had."""
    sql: str = ""
    """The same by the tables that are beside the report."""

    @property
    def left_out(self) -> int:
        """Rows that the report does not have."""
        return self.total - len(self.rows)


Results = Mapping[str, Result]
"""By the name of the analysis."""

Severity = Literal["bad", "odd", "fine"]

SEVERITIES: Final[tuple[Severity, ...]] = ("bad", "odd", "fine")
"""In the order of the page's top; what is fine is not put there."""


class Said(NamedTuple):
    """A sentence about what was found."""

    severity: Severity
    text: str
    of: Mapping[str, Any] = {}
    """Of which clients, topics, groups and time it is, see `marks`; what is not said is not filtered by."""


class Plot(NamedTuple):
    """A figure of plotly, as plotly.js takes it (https://plotly.com/javascript/reference/)."""

    title: str
    traces: Sequence[dict[str, Any]]
    """Where there are choices, `meta` says of which one a trace is."""
    layout: dict[str, Any]
    height: int = 360
    """Pixels."""
    choices: tuple[str, ...] = ()
    """Of these the reader sees one; the first to begin with."""
    of: Sequence[Mapping[str, Any]] = ()
    """`marks` of each trace, or of each of its points; none: the filter leaves it alone."""
    most: int | None = None
    """Traces that are drawn of those that the filter leaves: the first ones."""


class Lanes(NamedTuple):
    """A group as `barnabas/captures/summary/static/lanes.js` draws it, here and on the live page."""

    title: str
    lanes: Sequence[Row]
    """A member each, as `barnabas.page.answers.views.Lane` says."""
    bands: Sequence[Row]
    """A generation each, with what is drawn of `barnabas.page.answers.views.Band`."""


class Table(NamedTuple):
    """Rows as they are; lists are joined, times and numbers made readable."""

    columns: Mapping[str, str]
    """Heading by name of the column, in order."""
    rows: Sequence[Row]
    formats: Mapping[str, Callable[[Any], str]] = {}
    """How to write the numbers of a column, which the reader sorts as numbers all the same; without one a
    column `*_ms` has durations."""
    title: str = "Table"


class Drawn(NamedTuple):
    """What a section has to show."""

    said: Sequence[Said] = ()
    plots: Sequence[Plot] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    """What is not shown, and why."""
    lanes: Sequence[Lanes] = ()
    """Below the plots."""


class Section(NamedTuple):
    """A part of the report."""

    name: str
    """Also of its result: if that is empty, there is nothing to show."""
    title: str
    question: str
    """What it answers, for a person."""
    draw: Callable[[Results], Drawn]
    more: tuple[str, ...] = ()
    """Other results that it shows."""

    @property
    def results(self) -> tuple[str, ...]:
        """The names of all results that it shows."""
        return self.name, *self.more


def rows(results: Results, name: str) -> Sequence[Row]:
    """The rows of a result; none if it is not there."""
    return results[name].rows if name in results else ()


def cut(results: Results, section: Section) -> Iterator[str]:
    """Yield a remark for each result of a section of which rows are missing."""
    for name in section.results:
        if name in results and results[name].left_out:
            found = results[name]
            yield (
                f"{found.left_out:,} of {found.total:,} rows of {name} are not shown;"
                " the tables beside this page have all"
            )


def rest(count: int, what: str) -> list[str]:
    """Return a remark about what is not drawn, if there is any.

    >>> rest(7, "clients are in the table only"), rest(0, "clients are in the table only")
    (['7 clients are in the table only'], [])
    """
    return [f"{count} {what}"] if count > 0 else []


class Overview(NamedTuple):
    """What was read, in all."""

    captures: Sequence[str]
    begins: datetime | None
    """Of the first request; None if there is no exchange."""
    ends: datetime | None
    exchanges: int
    connections: int
    clients: int
    brokers: int
    topics: int
    groups: int
    errors: int
    """Exchanges with an error in their response."""
    undecodable: int
    """Exchanges with a body that no schema reads."""
    files: int = 1
    """Of all captures."""

    @property
    def title(self) -> str:
        """The captures, and how many files were read as them.

        >>> Overview(["a.pcap"], None, None, 0, 0, 0, 0, 0, 0, 0, 0, files=2).title
        'a.pcap (2 files)'
        """
        named = listed(self.captures)
        return f"{named} ({self.files} files)" if self.files > len(self.captures) else named
