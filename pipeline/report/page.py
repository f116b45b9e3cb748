"""The page: the only place where HTML is made. Whatever is written on it is escaped here.

Names come from strangers, who may have called a client `<script>`. So the page also forbids itself
all scripts but its own (by their hashes) and every request to anywhere (Content Security Policy 3).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.wording import printable
from barnabas.pipeline.report.parts import (
    SEVERITIES,
    Drawn,
    Overview,
    Plot,
    Results,
    Section,
    Table,
    rows,
)
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.wording import cell, duration, listed, utc
from barnabas.plural import plural

ROWS: Final = 500
"""Of a table that are on the page."""

OPEN: Final = 8
"""A table with no more rows is open at the beginning."""

SAID: Final = 12
"""Sentences at the top."""

TEMPLATES: Final = ("hovertemplate", "texttemplate")
"""Keys of plotly whose markup is ours; what they insert is escaped where it stands."""


class Shown(NamedTuple):
    """A section and what it drew."""

    section: Section
    drawn: Drawn


def page(
    overview: Overview, results: Results, plotly: str, sections: Sequence[Section] = SECTIONS
) -> str:
    """The whole file. plotly: the text of plotly.js."""
    shown = [
        Shown(section, section.draw(results)) for section in sections if rows(results, section.name)
    ]
    empty = [section for section in sections if section not in [one.section for one in shown]]
    plots = [
        (f"{one.section.name}-{number}", plot)
        for one in shown
        for number, plot in enumerate(one.drawn.plots)
    ]
    data = _json({name: _figure(plot) for name, plot in plots})
    scripts = (plotly, _own("page.js"))
    policy = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    title = f"Traffic of {listed(overview.captures)}"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            f"script-src {policy}; style-src 'unsafe-inline'; img-src data: blob:; "
            "base-uri 'none'; form-action 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{_text(title)}</title>",
            f"<style>\n{_own('page.css')}</style>\n</head>\n<body>",
            *_top(overview, shown),
            "<main>",
            *(part for one in shown for part in _section(one)),
            *_nothing(empty),
            "</main>",
            "<footer>Times are in UTC. In a plot, drag to zoom, double-click to reset, click a "
            "name to hide it. The data are beside this page, as Parquet.</footer>",
            f'<script type="application/json" id="figures">{data}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        )
    )


def plotly() -> str:
    """The text of plotly.js, of which it is the bundle that has our kinds of plots."""
    return _own("vendor/plotly.js")


def _top(overview: Overview, shown: Sequence[Shown]) -> Iterator[str]:
    """What was read, what stands out, and where to find it."""
    yield '<header>\n<p class="brand">barnabas · analysis</p>'
    yield f"<h1>{_text(listed(overview.captures))}</h1>"
    yield f'<p class="when">{_text(_when(overview))}</p>'
    yield '<dl class="figures">'
    for name, value, bad in _figures(overview):
        mark = ' class="bad"' if bad else ""
        yield f"<div{mark}><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>"
    yield "</dl>\n</header>"
    said = [
        (sentence, one.section.name)
        for severity in SEVERITIES
        for one in shown
        for sentence in one.drawn.said
        if sentence.severity == severity != "fine"
    ]
    yield '<section class="said">\n<h2>What stands out</h2>'
    if said:
        yield "<ul>"
        for sentence, name in said[:SAID]:
            yield (
                f'<li class="{sentence.severity}"><a href="#{name}">{_text(sentence.text)}</a></li>'
            )
        yield "</ul>"
        if len(said) > SAID:
            yield f"<p>and {len(said) - SAID} more, in their sections</p>"
    else:
        yield "<p>Nothing: no errors, no findings, no late members.</p>"
    if not any(one.section.name == "unread" for one in shown):
        yield '<p class="fine">The captures were read completely.</p>'
    yield "</section>\n<nav>"
    for one in shown:
        yield f'<a href="#{one.section.name}">{_text(one.section.title)}</a>'
    yield "</nav>"


def _when(overview: Overview) -> str:
    if overview.begins is None or overview.ends is None:
        return "no exchanges"
    begins, ends = utc(overview.begins), utc(overview.ends)
    lasted = duration((ends - begins).total_seconds() * 1000)
    return f"{begins:%A, %d %B %Y, %H:%M:%S} to {ends:%H:%M:%S} UTC, {lasted}"


def _figures(overview: Overview) -> Iterator[tuple[str, str, bool]]:
    """Name, value, and whether it is a bad one."""
    for name in ("exchanges", "connections", "clients", "brokers", "topics", "groups"):
        yield name, f"{getattr(overview, name):,}", False
    yield "with errors", f"{overview.errors:,}", bool(overview.errors)
    yield "undecodable", f"{overview.undecodable:,}", bool(overview.undecodable)


def _section(one: Shown) -> Iterator[str]:
    section, drawn = one
    yield f'<section id="{section.name}">\n<h2>{_text(section.title)}</h2>'
    yield f'<p class="question">{_text(section.question)}</p>'
    if drawn.said:
        yield '<ul class="says">'
        for sentence in drawn.said:
            yield f'<li class="{sentence.severity}">{_text(sentence.text)}</li>'
        yield "</ul>"
    for number, plot in enumerate(drawn.plots):
        yield from _plot(f"{section.name}-{number}", plot)
    for table in drawn.tables:
        yield from _table(table)
    for remark in drawn.remarks:
        yield f'<p class="remark">{_text(remark)}</p>'
    yield "</section>"


def _plot(name: str, plot: Plot) -> Iterator[str]:
    yield f'<figure><figcaption><span>{_text(plot.title)}</span><span class="choices">'
    for choice in plot.choices:
        pressed = "true" if choice == plot.choices[0] else "false"
        yield (
            f'<button type="button" data-plot="{name}" data-choice="{_text(choice)}" '
            f'aria-pressed="{pressed}">{_text(choice)}</button>'
        )
    yield "</span></figcaption>"
    yield (
        f'<div class="plot" id="{name}" role="img" aria-label="{_text(plot.title)}" '
        f'style="height:{plot.height}px"></div></figure>'
    )


def _table(table: Table) -> Iterator[str]:
    many = plural(len(table.rows), "row")
    state = " open" if len(table.rows) <= OPEN else ""
    yield f"<details{state}><summary>Table: {many}</summary>"
    yield '<div class="table"><table><thead><tr>'
    for column, heading in table.columns.items():
        kind = ' class="number"' if any(_number(row.get(column)) for row in table.rows) else ""
        yield f"<th{kind}>{_text(heading)}</th>"
    yield "</tr></thead><tbody>"
    for row in table.rows[:ROWS]:
        yield "<tr>"
        for column in table.columns:
            yield _cell(row.get(column), column, table.formats.get(column, cell))
        yield "</tr>"
    yield "</tbody></table></div>"
    if len(table.rows) > ROWS:
        yield (
            f'<p class="remark">{len(table.rows) - ROWS:,} more rows are in the Parquet table, not '
            "on this page</p>"
        )
    yield "</details>"


def _cell(value: Any, column: str, write: Callable[[Any], str]) -> str:
    text = _text(write(value) if _number(value) else cell(value))
    if column == "severity":
        return f'<td><span class="pill {text}">{text}</span></td>'
    # the key is what the reader sorts by
    if isinstance(value, datetime):
        return f'<td class="when" data-key="{utc(value).isoformat()}">{text}</td>'
    return (
        f'<td class="number" data-key="{value}">{text}</td>'
        if _number(value)
        else f"<td>{text}</td>"
    )


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _nothing(empty: Sequence[Section]) -> Iterator[str]:
    """The questions to which there is no answer, so that nobody wonders whether they were asked."""
    if not empty:
        return
    yield '<section class="empty"><h2>Checked, nothing found</h2><ul>'
    for section in empty:
        yield f"<li><b>{_text(section.title)}</b> {_text(section.question)}</li>"
    yield "</ul></section>"


def _figure(plot: Plot) -> dict[str, Any]:
    return {
        "data": _escaped(plot.traces),
        "layout": _escaped(plot.layout),
        "choices": list(plot.choices),
    }


def _escaped(value: Any) -> Any:
    """All texts of a figure escaped: plotly reads tags in them (svg_text_utils.js), links too."""
    if isinstance(value, str):
        return html.escape(printable(value), quote=False)
    if isinstance(value, Mapping):
        return {key: one if key in TEMPLATES else _escaped(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_escaped(one) for one in value]
    return value


def _text(text: str) -> str:
    return html.escape(printable(text))


def _json(value: Any) -> str:
    """JSON that can't end the element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _own(name: str) -> str:
    return (files("barnabas.pipeline.report") / name).read_text("utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
