"""Sections, tables, statements as HTML, and figures as JSON for plotly. All text is escaped here."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.wording import printable
from barnabas.look.html import Cell, Html, html_badge, html_code, html_link, html_table, html_text
from barnabas.pipeline.report.marks import marks, of_trace, together
from barnabas.pipeline.report.parts import (
    Content,
    Lanes,
    Plot,
    Results,
    Section,
    Statement,
    Table,
    cut,
)
from barnabas.pipeline.report.wording import cell, duration, utc
from barnabas.plural import plural

ROWS: Final = 500
"""The most rows of a table on the page."""

OPEN: Final = 8
"""A table with at most this many rows is initially open."""

TEMPLATES: Final = ("hovertemplate", "texttemplate")
"""Keys of plotly whose markup is ours; inserted values are escaped separately."""


class DrawnSection(NamedTuple):
    """A section and its content."""

    section: Section
    content: Content

    @property
    def plots(self) -> dict[str, Plot]:
        """Return the plots by the ids of their elements."""
        return {f"{self.section.name}-{n}": plot for n, plot in enumerate(self.content.plots)}

    @property
    def lanes(self) -> dict[str, Lanes]:
        """Return the lanes by the ids of their elements."""
        return {f"{self.section.name}-lanes-{n}": g for n, g in enumerate(self.content.lanes)}


def section_html(drawn: DrawnSection, results: Results) -> Iterator[str]:
    """Yield the HTML of a section."""
    section, content = drawn
    yield f'<section class="panel" id="{section.name}">'
    yield f"<h2>{html_text(section.title)}{html_link(section.name, section.title)}</h2>"
    yield f'<p class="remark">{html_text(section.question)}</p>'
    if content.statements:
        yield '<ul class="statements says">'
        for sentence in content.statements:
            name = statement_id(section, sentence) if sentence.name else ""
            link = html_link(name, sentence.name) if name else ""
            yield f"{sentence_html(sentence, name)}{html_text(sentence.text)}{link}</li>"
        yield "</ul>"
    for name, plot in drawn.plots.items():
        yield from _plot(name, plot)
    for name, group in drawn.lanes.items():
        yield f"<figure><figcaption><span>{html_text(group.title)}</span></figcaption>"
        yield f'<div id="{name}"></div></figure>'
    for table in content.tables:
        if table.rows:
            yield from _table(section, table)
    for remark in (*cut(results, section), *content.remarks):
        yield f'<p class="remark">{html_text(remark)}</p>'
    yield from _sql(section, results)
    yield "</section>"


def _sql(section: Section, results: Results) -> Iterator[str]:
    """Yield the SQL of the section's results, to copy."""
    shown = {name: results[name].sql for name in section.results if name in results}
    text = "\n\n".join(f"-- {name}\n{sql};" for name, sql in shown.items() if sql)
    if text:
        yield '<details class="data"><summary>SQL of these numbers</summary>'
        yield (
            '<p class="remark">Spark SQL. tables.sql, beside this page, makes the tables that it asks: '
            "spark-sql keeps them in metastore_db in the folder in which it was started.</p>"
        )
        yield html_code(text, f"SQL of {section.title}")
        yield "</details>"


def _plot(name: str, plot: Plot) -> Iterator[str]:
    yield f'<figure><figcaption><span>{html_text(plot.title)}</span><span class="choices">'
    for choice in plot.choices:
        pressed = "true" if choice == plot.choices[0] else "false"
        yield (
            f'<button type="button" data-plot="{name}" data-choice="{html_text(choice)}" '
            f'aria-pressed="{pressed}">{html_text(choice)}</button>'
        )
    yield "</span></figcaption>"
    yield (
        f'<div class="plot" id="{name}" role="img" aria-label="{html_text(plot.title)}" '
        f'style="height:{plot.height}px"></div></figure>'
    )


def _table(section: Section, table: Table) -> Iterator[str]:
    """Yield the HTML of a table, without the columns that have no value."""
    columns = {
        column: heading
        for column, heading in table.columns.items()
        if any(row.get(column) not in (None, "", []) for row in table.rows)
    }
    many = plural(len(table.rows), "row")
    state = " open" if len(table.rows) <= OPEN else ""
    count = f'<span class="count" data-all="{many}">{many}</span>'
    yield f'<details class="data"{state}><summary>{html_text(table.title)}: {count}</summary>'
    rows = table.rows[:ROWS]
    cells = ([_cell(row.get(column), column, table.formats) for column in columns] for row in rows)
    attributes = _attributes(section, table)
    label = f"{section.title}: {table.title}"
    yield from html_table([*columns.values()], cells, label, attributes=attributes)
    if len(table.rows) > ROWS:
        yield (
            f'<p class="remark">{len(table.rows) - ROWS:,} more rows are in the Parquet table, not '
            "on this page</p>"
        )
    yield "</details>"


def _attributes(section: Section, table: Table) -> Iterator[str]:
    """Yield the attributes of each row: its marks, and its id if no row before has it."""
    names = set[str]()
    for row in table.rows:
        name = f"{section.name}-{table.row_name(row)}" if table.row_name else ""
        yield f"{_id('' if name in names else name)}{_data(marks(row))}"
        names.add(name)


def _cell(value: Any, column: str, formats: Mapping[str, Callable[[Any], str]]) -> Cell | str:
    if column == "severity":
        return Html(html_badge(cell(value)))
    if isinstance(value, datetime):
        return Cell(cell(value), utc(value))
    if _number(value):
        default_format: Callable[[Any], str] = duration if column.endswith("_ms") else cell
        return Cell(formats.get(column, default_format)(value), value)
    return cell(value)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def sentence_html(statement: Statement, name: str = "") -> str:
    """Return the opening tag of a statement's element, with its id if it has a name."""
    of = _data({"of": json.dumps(together(statement.rows))})
    return f'<li class="{statement.severity}"{_id(name)}{of}>'


def statement_id(section: Section, statement: Statement) -> str:
    """Return the id of the element to which a link to a statement leads."""
    return f"{section.name}-{statement.name}" if statement.name else section.name


def _id(name: str) -> str:
    return f' id="{html_text(name)}"' if name else ""


def _data(values: Mapping[str, Any]) -> str:
    """Return marks as attributes."""
    return "".join(f' data-{mark}="{html_text(str(value))}"' for mark, value in values.items())


def figure(plot: Plot) -> dict[str, Any]:
    """Return the JSON for a plot of `page.js`; marks are not escaped, since plotly does not get them."""
    return {
        "data": _escaped(plot.traces),
        "layout": _escaped(plot.layout),
        "choices": list(plot.choices),
        "of": [*map(of_trace, plot.rows)] or [{}] * len(plot.traces),
        "most": plot.most,
        "height": plot.height,
    }


def _escaped(value: Any) -> Any:
    """Return a figure with all texts escaped: plotly interprets tags (svg_text_utils.js) and links."""
    if isinstance(value, str):
        return html.escape(printable(value), quote=False)
    if isinstance(value, Mapping):
        return {key: item if key in TEMPLATES else _escaped(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(item) for item in value]
    return value
