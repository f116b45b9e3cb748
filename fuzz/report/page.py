"""The report as one HTML page without further files; all text is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from barnabas.captures.kafka.wording import printable
from barnabas.fuzz.report.cause import Group, representative
from barnabas.fuzz.report.finding import text
from barnabas.fuzz.report.summary import Summary, sections
from barnabas.fuzz.report.title import heading, upon
from barnabas.plural import plural

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""No script, and no request to anywhere: the target may have sent `<script>`."""

STYLE: Final = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; } h3 .fine { font-weight: normal; }
h1, h3, dl, summary { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: .2rem 1.2rem; }
dt { opacity: .7; } dd { margin: 0; }
.table { overflow-x: auto; } table { border-collapse: collapse; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
details { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .8rem; margin: .6rem 0; }
summary { cursor: pointer; } pre { overflow-x: auto; font-size: 13px; line-height: 1.4; }
@media (max-width: 40rem) { pre { white-space: pre-wrap; overflow-wrap: anywhere; } }
code { font-size: .95em; } .fine { opacity: .7; }
"""


def page(campaigns: Sequence[Summary]) -> str:
    """Return the page."""
    title = ", ".join(campaign.title for campaign in campaigns) or "no campaign"
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            *(line for campaign in campaigns for line in _campaign(campaign)),
            "</main>\n</body>\n</html>\n",
        )
    )


def _campaign(summary: Summary) -> Iterator[str]:
    yield f"<h1>{_text(summary.title)}</h1>\n<dl>"
    yield from (f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in summary.facts)
    yield "</dl>\n<h2>Findings</h2>"
    if not summary.findings:
        yield '<p class="fine">None.</p>'
    for group in summary.groups:
        yield from _group(group, summary.database)
    for title, head, rows in sections(summary):
        yield f"<h2>{title}</h2>"
        yield from _table(head, rows)


def _group(group: Group, database: str) -> Iterator[str]:
    counts = f"{plural(len(group.findings), 'finding')} · {plural(group.cases, 'case')}"
    yield f'<h3>{_text(heading(group))} <span class="fine">{counts}</span></h3>'
    for each in group.findings:
        finding = _text(text(each, database, representative(group)), lines=True)
        yield (
            f'<details id="{_text(each.name)}"><summary><code>{_text(each.name)}</code> '
            f"<b>{_text(each.oracle)}</b> {_text(upon(each.best))} "
            f'<span class="fine">{each.cases:,} ×</span></summary>'
            f'<pre tabindex="0">{finding}</pre></details>'
        )


def _table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    names = "".join(f"<th>{_text(name)}</th>" for name in head)
    yield f'<div class="table" tabindex="0"><table><tr>{names}</tr>'
    for row in rows:
        yield f"<tr>{''.join(map(_cell, row))}</tr>"
    yield "</table></div>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{_text(str(value))}</td>"


def _text(value: str, *, lines: bool = False) -> str:
    parts = value.split("\n") if lines else [value]
    return html.escape("\n".join(map(printable, parts)))
