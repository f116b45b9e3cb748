"""The parts of a section. Sections return these; only `page` and `elements` make HTML from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from barnabas.pipeline.report.wording import listed
from barnabas.plural import plural
from barnabas.specs.frames import Direction

Row = Mapping[str, Any]
"""A row of an analysis, by column name; times are datetimes in UTC."""


class Result(NamedTuple):
    """The rows of an analysis that the report shows."""

    rows: Sequence[Row]
    total: int
    """The number of all rows."""
    sql: str = ""
    """The query over the tables next to the report."""

    @property
    def left_out(self) -> int:
        """Return the number of rows that the report does not have."""
        return self.total - len(self.rows)


Results = Mapping[str, Result]
"""By the name of the analysis."""

Severity = Literal["error", "warning", "fine"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "fine")
"""In the order at the top of the page, which omits "fine"; findings of checks have the same words."""


class Statement(NamedTuple):
    """A sentence about a result."""

    severity: Severity
    text: str
    rows: Sequence[Row] = ()
    """The rows that it is about, for the filter; without them the filter does not apply."""
    name: str = ""
    """Names it within its section, for links to it; without a name, links are to the section."""


STATEMENTS: Final = 3
"""The most statements of a section about rows of one kind: the rows come first in its order."""


class Plot(NamedTuple):
    """A figure for plotly.js (https://plotly.com/javascript/reference/)."""

    title: str
    traces: Sequence[dict[str, Any]]
    """If there are choices, `meta` is the choice to which a trace belongs."""
    layout: dict[str, Any]
    height: int = 360
    """Pixels."""
    choices: tuple[str, ...] = ()
    """The reader sees one of them, initially the first."""
    rows: Sequence[Row | Sequence[Row]] = ()
    """The row of each trace, or the rows of its points, for the filter; without them it does not apply."""
    most: int | None = None
    """The most traces to draw, the first ones that pass the filter."""


class Lanes(NamedTuple):
    """A group for `barnabas/look/static/lanes.js`, here and on the live page."""

    title: str
    lanes: Sequence[Row]
    """One for each member, as `barnabas.page.answers.views.Lane`."""
    bands: Sequence[Row]
    """One for each generation, with the drawn fields of `barnabas.page.answers.views.Band`."""


class Table(NamedTuple):
    """Rows; lists are joined, times and numbers formatted."""

    columns: Mapping[str, str]
    """Headings by column name, in order."""
    rows: Sequence[Row]
    formats: Mapping[str, Callable[[Any], str]] = {}
    """Formats for the numbers of a column, which still sort as numbers. By default, columns `*_ms` are
    durations."""
    title: str = "Table"
    row_name: Callable[[Row], str] | None = None
    """Names a row within its section, for links to it."""


class Content(NamedTuple):
    """The content of a section."""

    statements: Sequence[Statement] = ()
    plots: Sequence[Plot] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    """Notes on what is not shown."""
    lanes: Sequence[Lanes] = ()
    """Shown below the plots."""


class Section(NamedTuple):
    """A section of the report."""

    name: str
    """Also the name of its result: if that is empty, the section is not shown."""
    title: str
    question: str
    """The question that it answers."""
    draw: Callable[..., Content]
    """A function of the rows of each of its results."""
    more: tuple[str, ...] = ()
    """Further results that it shows."""

    @property
    def results(self) -> tuple[str, ...]:
        """Return the names of all results that it shows."""
        return self.name, *self.more

    def content(self, results: Results) -> Content:
        """Return what it shows."""
        return self.draw(*(results[name].rows if name in results else () for name in self.results))


def cut(results: Results, section: Section) -> Iterator[str]:
    """Yield a remark for each result of a section that is incomplete."""
    for name in section.results:
        if name in results and results[name].left_out:
            result = results[name]
            yield (
                f"{result.left_out:,} of {result.total:,} rows of {name} are not shown;"
                " the tables beside this page have all"
            )


HEADINGS: Final = {
    "client_id": "client",
    "api": "API",
    "start": "from",
    "end": "until",
    "removed_in": "removed in",
}
"""Headings of columns that are not the column's name."""


def table_of(
    rows: Sequence[Row],
    columns: str,
    formats: Mapping[str, Callable[[Any], str]] | None = None,
    title: str = "Table",
) -> Table:
    """Return a table of columns, each with the heading after its name, a common one, or its name.

    >>> table_of([], "client_id, topic, count: requests").columns
    {'client_id': 'client', 'topic': 'topic', 'count': 'requests'}
    """
    pairs = (column.partition(": ") for column in columns.split(", "))
    headings = {name: heading or HEADINGS.get(name, name) for name, _, heading in pairs}
    return Table(headings, rows, formats or {}, title)


def rest(count: int, noun: str, which: str = "", state: str = "in the table only") -> list[str]:
    """Return a remark about items that are not drawn, if there are any.

    >>> rest(7, "client"), rest(1, "client", " with few errors", "not drawn"), rest(0, "client")
    (['7 clients are in the table only'], ['1 client with few errors is not drawn'], [])
    """
    verb = "is" if count == 1 else "are"
    return [f"{plural(count, noun)}{which} {verb} {state}"] if count > 0 else []


class Overview(NamedTuple):
    """A summary of everything that was read."""

    captures: Sequence[str]
    begins: datetime | None
    """The time of the first request; None if there is no exchange."""
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
    """Exchanges with a body that could not be decoded."""
    files: int = 1
    """Of all captures."""
    only: Direction | None = None
    """The only captured direction; None: both."""

    @property
    def title(self) -> str:
        """Return the captures, and the number of their files.

        >>> Overview(["a.pcap"], None, None, 0, 0, 0, 0, 0, 0, 0, 0, files=2).title
        'a.pcap and 1 more file'
        """
        named, more = listed(self.captures), self.files - len(self.captures)
        if len(self.captures) == 1 and more > 0:  # named after its first file
            return f"{named} and {plural(more, 'more file')}"
        return f"{named} ({self.files} files)" if more > 0 else named
