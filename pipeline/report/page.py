"""The report's page. Only this module and `elements` make HTML; everything on the page is escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Final

from barnabas.captures.kafka.notes import ONE_DIRECTION
from barnabas.look.html import Script, html_figures, html_page, html_text, look_file
from barnabas.pipeline.report.elements import (
    ROWS,
    DrawnSection,
    figure,
    section_html,
    sentence_html,
    statement_id,
)
from barnabas.pipeline.report.marks import COLUMNS, marks, since_epoch
from barnabas.pipeline.report.parts import SEVERITIES, Overview, Results, Section, Statement
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.wording import NOTHING, duration, ms_between, utc
from barnabas.plural import plural

SAID: Final = 12
"""The most statements at the top."""

LOOK_MODULES: Final = ("text.js", "lanes.js")
"""Modules that other pages also run, each after the modules that it imports."""

MODULES: Final = ("filter.js", "page.js")
"""Modules that only this page runs."""


def page(
    overview: Overview, results: Results, plotly: str, sections: Sequence[Section] = SECTIONS
) -> str:
    """Return the whole file. `plotly` is the text of plotly.js."""
    filled = [
        section for section in sections if section.name in results and results[section.name].rows
    ]
    drawn_sections = [DrawnSection(section, section.content(results)) for section in filled]
    figures = {name: figure(plot) for drawn in drawn_sections for name, plot in drawn.plots.items()}
    lanes = {
        name: {"lanes": group.lanes, "bands": group.bands}
        for drawn in drawn_sections
        for name, group in drawn.lanes.items()
    }
    data = _json({"figures": figures, "lanes": lanes})
    return html_page(
        f"Traffic of {overview.title}",
        "analysis",
        (
            *_top(overview, drawn_sections),
            '<div class="tools">',
            *_filter(overview, drawn_sections),
            '<nav class="tabs" aria-label="Sections">',
            *(f'<a href="#{section.name}">{html_text(section.title)}</a>' for section in filled),
            "</nav>\n</div>",
            *(part for drawn in drawn_sections for part in section_html(drawn, results)),
            *_empty_sections(overview, [section for section in sections if section not in filled]),
            "<footer>Times are in UTC. In a plot, drag to zoom, double-click to reset, click a "
            "name to hide it; all sections follow to a time that is zoomed to. The data are "
            "beside this page, as Parquet.</footer>",
            f'<script type="application/json" id="figures">{data}</script>',
        ),
        style=look_file("lanes.css") + _report_file("page.css"),
        scripts=(Script(plotly), Script(_joined(), module=True)),
    )


def plotly() -> str:
    """Return the text of plotly.js: the bundle with the kinds of plots that the report uses."""
    return _report_file("vendor/plotly.js")


def _top(overview: Overview, drawn_sections: Sequence[DrawnSection]) -> Iterator[str]:
    """Yield the header: a sentence, figures, and the most important statements with links."""
    statements = [
        (sentence, drawn.section)
        for severity in SEVERITIES
        for drawn in drawn_sections
        for sentence in drawn.content.statements
        if sentence.severity == severity != "fine"
    ]
    yield f"<h1>{html_text(overview.title)}</h1>"
    yield f'<p class="lead">{html_text(_lead(overview, [sentence for sentence, _ in statements]))}</p>'
    yield f'<p class="when">{html_text(_time_span(overview))}</p>'
    faulty = any(section.name == "errors" for _, section in statements)
    yield from html_figures(_figures(overview, faulty=faulty))
    yield '<section class="panel said">\n<h2>What stands out</h2>'
    if overview.only is not None:
        yield f'<p class="remark">{ONE_DIRECTION[overview.only].capitalize()}</p>'
    if statements:
        yield '<ul class="statements">'
        for sentence, section in statements[:SAID]:
            link = html_text(f"#{statement_id(section, sentence)}")
            yield f'{sentence_html(sentence)}<a href="{link}">{html_text(sentence.text)}</a></li>'
        yield "</ul>"
        if len(statements) > SAID:
            yield f'<p class="remark">and {len(statements) - SAID} more, in their sections</p>'
    elif overview.only is None:
        yield '<p class="none">Nothing: no errors, no findings, no late members.</p>'
    if not any(drawn.section.name == "unread" for drawn in drawn_sections):
        yield '<p class="remark">The captures were read completely.</p>'
    yield "</section>"


def _lead(overview: Overview, statements: Sequence[Statement]) -> str:
    """Return the report in a sentence."""
    counts = [
        plural(count, severity)
        for severity in SEVERITIES
        if (count := sum(statement.severity == severity for statement in statements))
    ]
    stands = "stands" if len(statements) == 1 else "stand"
    rest = f"{' and '.join(counts)} {stands} out" if counts else "nothing stands out"
    if overview.begins is None or overview.ends is None:
        return f"No exchanges: {rest}."
    exchanges, clients, brokers = (
        f"{count:,} {noun if count == 1 else noun + 's'}"
        for count, noun in (
            (overview.exchanges, "exchange"),
            (overview.clients, "client"),
            (overview.brokers, "broker"),
        )
    )
    lasted = duration(ms_between(overview.begins, overview.ends))
    return f"{exchanges} of {clients} with {brokers} in {lasted}: {rest}."


def _filter(overview: Overview, drawn_sections: Sequence[DrawnSection]) -> Iterator[str]:
    """Yield the filter of all sections: clients, topics and groups on the page, and time."""
    begins, ends = overview.begins, overview.ends
    span = ""
    if begins is not None and ends is not None:
        ends += timedelta(milliseconds=1)  # includes the truncated fraction
        span = f' data-from="{since_epoch(begins)}" data-to="{since_epoch(ends)}"'
    yield f'<div class="bar" id="filter" role="search" aria-label="Filter of all sections"{span}>'
    marks_of_rows = [*_marks(drawn_sections)]
    for mark in dict.fromkeys(COLUMNS.values()):
        names = {str(row_marks[mark]) for row_marks in marks_of_rows if row_marks.get(mark)}
        if names:
            yield f'<label>{mark} <select name="{mark}"><option value="">all</option>'
            for name in map(html_text, sorted(names)):
                yield f'<option value="{name}">{name}</option>'
            yield "</select></label>"
    if begins is not None and ends is not None:
        for name, moment in (("from", begins), ("to", ends)):
            yield (
                f'<label>{name} <input type="datetime-local" step="0.001" name="{name}"'
                f' aria-label="{name}, in UTC"'
                f' value="{utc(moment).isoformat(timespec="milliseconds")}"></label>'
            )
    yield '<button type="button" disabled>Show all</button><output role="status"></output></div>'


def _marks(drawn_sections: Sequence[DrawnSection]) -> Iterator[Mapping[str, Any]]:
    """Yield the marks of everything on the page."""
    for drawn in drawn_sections:
        for table in drawn.content.tables:
            yield from map(marks, table.rows[:ROWS])
        for plot in drawn.content.plots:
            for rows in plot.rows:
                yield from map(marks, [rows] if isinstance(rows, Mapping) else rows)


def _time_span(overview: Overview) -> str:
    if overview.begins is None or overview.ends is None:
        return "no exchanges"
    begins, ends = utc(overview.begins), utc(overview.ends)
    lasted = duration(ms_between(begins, ends))
    until = f"{ends:%H:%M:%S}" if begins.date() == ends.date() else _day(ends)
    return f"{_day(begins)} to {until} UTC, {lasted}"


def _day(moment: datetime) -> str:
    return f"{moment:%A, %d %B %Y, %H:%M:%S}"


def _figures(overview: Overview, *, faulty: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value, and whether it is a bad one. faulty: Whether errors stand out."""
    for name in ("exchanges", "connections", "clients", "brokers", "topics", "groups"):
        yield name, f"{getattr(overview, name):,}", False
    errors = NOTHING if overview.only == "request" else f"{overview.errors:,}"
    yield "with errors", errors, faulty
    yield "undecodable", f"{overview.undecodable:,}", bool(overview.undecodable)


def _empty_sections(overview: Overview, empty: Sequence[Section]) -> Iterator[str]:
    """Yield the questions without a result, to show that they were checked, if they could be."""
    if not empty:
        return
    heading = "Checked, nothing found" if overview.only is None else "Nothing found, or not checked"
    yield f'<section class="panel empty"><h2>{heading}</h2><ul>'
    for section in empty:
        yield f"<li><b>{html_text(section.title)}</b> {html_text(section.question)}</li>"
    yield "</ul></section>"


def _json(value: Any) -> str:
    """Return JSON that can't end the element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _joined() -> str:
    """Return the modules as one script, since a page of one file can't import.

    Names are unique across the modules.
    """
    text = "".join((*map(look_file, LOOK_MODULES), *map(_report_file, MODULES)))
    return re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE)


def _report_file(name: str) -> str:
    return files("barnabas.pipeline.report").joinpath(name).read_text("utf-8")
