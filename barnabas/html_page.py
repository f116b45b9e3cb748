"""A report as one HTML page without scripts and further files; all text is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from barnabas.captures.kafka.wording import printable

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


def html_page(title: str, body: Iterable[str]) -> str:
    """Return a page with lines of HTML as its body."""
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html_text(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            *body,
            "</main>\n</body>\n</html>\n",
        )
    )


def html_facts(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a list of names and values."""
    yield "<dl>"
    yield from (f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in facts)
    yield "</dl>"


def html_table(head: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield the lines of a table; whole numbers are aligned on the right."""
    names = "".join(f"<th>{html_text(name)}</th>" for name in head)
    yield f'<div class="table" tabindex="0"><table><tr>{names}</tr>'
    for row in rows:
        yield f"<tr>{''.join(map(_cell, row))}</tr>"
    yield "</table></div>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    return f"<td>{html_text(str(value))}</td>"


def html_text(value: str, *, lines: bool = False) -> str:
    """Escape text; control characters are shown, except the ends of lines if it has several."""
    parts = value.split("\n") if lines else [value]
    return html.escape("\n".join(map(printable, parts)))
