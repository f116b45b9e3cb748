"""The page: with `elements` the only place where HTML is made. Whatever is written on it is escaped.

Names come from strangers, who may have called a client `<script>`. So the page also forbids itself
all scripts but its own (by their hashes) and every request to anywhere (Content Security Policy 3).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Final

from barnabas.pipeline.report.elements import (
    ROWS,
    Shown,
    figure,
    lanes_of,
    section_html,
    sentence_html,
    text_html,
)
from barnabas.pipeline.report.marks import COLUMNS, marks, since_epoch
from barnabas.pipeline.report.parts import (
    SEVERITIES,
    Overview,
    Results,
    Section,
    rows,
)
from barnabas.pipeline.report.registry import SECTIONS
from barnabas.pipeline.report.wording import duration, utc

SAID: Final = 12
"""Sentences at the top."""

SHARED: Final = ("barnabas.captures.summary", "static")
"""Where the live page has them from, too."""

MODULES: Final = (
    (*SHARED, "text.js"),
    (*SHARED, "lanes.js"),
    ("barnabas.pipeline.report", "filter.js"),
    ("barnabas.pipeline.report", "page.js"),
)
"""The page's own script, a module after those that it imports."""


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
    lanes = {name: group for one in shown for name, group in lanes_of(one)}
    data = _json(
        {
            "figures": {name: figure(plot) for name, plot in plots},
            "lanes": {
                name: {"lanes": one.lanes, "bands": one.bands} for name, one in lanes.items()
            },
        }
    )
    own = _joined()
    policy = " ".join(f"'sha256-{_hash(script)}'" for script in (plotly, own))
    title = f"Traffic of {overview.title}"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            f"script-src {policy}; style-src 'unsafe-inline'; img-src data: blob:; "
            "base-uri 'none'; form-action 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{text_html(title)}</title>",
            f"<style>\n{_text_of(*SHARED, 'lanes.css')}{_own('page.css')}</style>\n</head>\n<body>",
            *_top(overview, shown),
            '<div class="tools">',
            *_filter(overview, shown),
            *_links(shown),
            "</div>",
            "<main>",
            *(part for one in shown for part in section_html(one, results)),
            *_nothing(empty),
            "</main>",
            "<footer>Times are in UTC. In a plot, drag to zoom, double-click to reset, click a "
            "name to hide it; all sections follow to a time that is zoomed to. The data are "
            "beside this page, as Parquet.</footer>",
            f'<script type="application/json" id="figures">{data}</script>',
            f"<script>{plotly}</script>",
            f'<script type="module">{own}</script>',
            "</body>\n</html>\n",
        )
    )


def plotly() -> str:
    """The text of plotly.js, of which it is the bundle that has our kinds of plots."""
    return _own("vendor/plotly.js")


def _top(overview: Overview, shown: Sequence[Shown]) -> Iterator[str]:
    """What was read, what stands out, and where to find it."""
    yield '<header>\n<p class="brand">barnabas · analysis</p>'
    yield f"<h1>{text_html(overview.title)}</h1>"
    yield f'<p class="when">{text_html(_when(overview))}</p>'
    yield '<dl class="figures">'
    for name, value, bad in _figures(overview):
        mark = ' class="bad"' if bad else ""
        yield f"<div{mark}><dt>{text_html(name)}</dt><dd>{text_html(value)}</dd></div>"
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
            yield f'{sentence_html(sentence)}<a href="#{name}">{text_html(sentence.text)}</a></li>'
        yield "</ul>"
        if len(said) > SAID:
            yield f"<p>and {len(said) - SAID} more, in their sections</p>"
    else:
        yield "<p>Nothing: no errors, no findings, no late members.</p>"
    if not any(one.section.name == "unread" for one in shown):
        yield '<p class="fine">The captures were read completely.</p>'
    yield "</section>"


def _links(shown: Sequence[Shown]) -> Iterator[str]:
    yield '<nav aria-label="Sections">'
    for one in shown:
        yield f'<a href="#{one.section.name}">{text_html(one.section.title)}</a>'
    yield "</nav>"


def _filter(overview: Overview, shown: Sequence[Shown]) -> Iterator[str]:
    """By what all sections can be filtered: the clients, topics and groups that are on the page, and time."""
    begins, ends = overview.begins, overview.ends
    span = ""
    if begins is not None and ends is not None:
        ends += timedelta(milliseconds=1)  # so that what is cut off of it is inside
        span = f' data-from="{since_epoch(begins)}" data-to="{since_epoch(ends)}"'
    yield f'<div id="filter" role="search" aria-label="Filter of all sections"{span}>'
    for mark in dict.fromkeys(COLUMNS.values()):
        if names := sorted({str(one[mark]) for one in _marks(shown) if mark in one}):
            yield f'<label>{mark} <select name="{mark}"><option value="">all</option>'
            yield from (
                f'<option value="{text_html(one)}">{text_html(one)}</option>' for one in names
            )
            yield "</select></label>"
    if begins is not None and ends is not None:
        for name, moment in (("from", begins), ("to", ends)):
            yield (
                f'<label>{name} <input type="datetime-local" step="0.001" name="{name}"'
                f' aria-label="{name}, in UTC" value="{_local(moment)}"></label>'
            )
    yield '<button type="button" disabled>Show all</button><output role="status"></output></div>'


def _local(moment: datetime) -> str:
    """As an input has it."""
    return utc(moment).isoformat(timespec="milliseconds")


def _marks(shown: Sequence[Shown]) -> Iterator[Mapping[str, Any]]:
    """Of all that is on the page."""
    for one in shown:
        for table in one.drawn.tables:
            yield from map(marks, table.rows[:ROWS])
        for plot in one.drawn.plots:
            for of in plot.of:
                lists = {mark: value for mark, value in of.items() if isinstance(value, list)}
                yield {mark: value for mark, value in of.items() if mark not in lists}
                for mark, values in lists.items():
                    yield from ({mark: value} for value in values)


def _when(overview: Overview) -> str:
    if overview.begins is None or overview.ends is None:
        return "no exchanges"
    begins, ends = utc(overview.begins), utc(overview.ends)
    lasted = duration((ends - begins).total_seconds() * 1000)
    until = f"{ends:%H:%M:%S}" if begins.date() == ends.date() else _day(ends)
    return f"{_day(begins)} to {until} UTC, {lasted}"


def _day(moment: datetime) -> str:
    return f"{moment:%A, %d %B %Y, %H:%M:%S}"


def _figures(overview: Overview) -> Iterator[tuple[str, str, bool]]:
    """Name, value, and whether it is a bad one."""
    for name in ("exchanges", "connections", "clients", "brokers", "topics", "groups"):
        yield name, f"{getattr(overview, name):,}", False
    yield "with errors", f"{overview.errors:,}", bool(overview.errors)
    yield "undecodable", f"{overview.undecodable:,}", bool(overview.undecodable)


def _nothing(empty: Sequence[Section]) -> Iterator[str]:
    """The questions to which there is no answer, so that nobody wonders whether they were asked."""
    if not empty:
        return
    yield '<section class="empty"><h2>Checked, nothing found</h2><ul>'
    for section in empty:
        yield f"<li><b>{text_html(section.title)}</b> {text_html(section.question)}</li>"
    yield "</ul></section>"


def _json(value: Any) -> str:
    """JSON that can't end the element that it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _joined() -> str:
    """The modules as one, since a page of one file can't import: each name stands for one thing in all."""
    text = "".join(_text_of(*module) for module in MODULES)
    return re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE)


def _own(name: str) -> str:
    return _text_of("barnabas.pipeline.report", name)


def _text_of(package: str, *path: str) -> str:
    return files(package).joinpath(*path).read_text("utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
