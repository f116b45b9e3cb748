"""A report as one HTML page, which requests nothing from anywhere; all text is escaped here.

Names come from untrusted peers, which may call a client `<script>`. So the page also forbids all scripts but
its own, by hash (Content Security Policy 3).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from importlib.resources import files
from itertools import repeat
from typing import Final, NamedTuple
from urllib.parse import quote

from barnabas.captures.kafka.wording import printable

POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; script-src {scripts}"
)

SCHEMES: Final = (("system", "◐"), ("light", "○"), ("dark", "●"))
"""The switch of colours: the stylesheet applies its value, without a script."""


LONG: Final = 40
"""Characters of a cell from which on its words may break, so that a table fits the page."""

SCRIPTS: Final = ("table_menu.js", "copy.js")
"""What all reports run, for their tables and blocks of code."""


class Script(NamedTuple):
    """A script of the page; a module runs after the page is parsed."""

    text: str
    module: bool = False


class Html(str):
    """HTML of a table's cell, which is not escaped."""

    __slots__ = ()


class Cell(NamedTuple):
    """A table's cell with a formatted number or time; rows are sorted by the key."""

    text: str
    key: float | datetime


def look_file(name: str) -> str:
    """Return the text of a file in `static/`."""
    return files("barnabas.look").joinpath("static", name).read_text("utf-8")


def html_page(
    title: str,
    kind: str,
    body: Iterable[str],
    *,
    style: str = "",
    scripts: Sequence[Script] = (),
) -> str:
    """Return a page.

    Args:
        title: The title of the browser's tab.
        kind: What the page is, next to the product's name: "analysis".
        body: Lines of HTML.
        style: CSS after that of `look.css`.
        scripts: Run at the end of the page, after `SCRIPTS`.
    """
    scripts = (Script("".join(map(look_file, SCRIPTS)), module=True), *scripts)
    hashes = " ".join(f"'sha256-{_hash(script.text)}'" for script in scripts)
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY.format(scripts=hashes)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{html_text(title)}</title>",
            f'<style>\n{look_file("look.css")}{style}</style>\n</head>\n<body class="report">',
            f'<header class="top"><p class="brand">{look_file("icon.svg")}barnabas · {html_text(kind)}</p>',
            f'<div class="end">{_scheme()}</div></header>\n<main>',
            *body,
            "</main>",
            *map(_script, scripts),
            "</body>\n</html>\n",
        )
    )


def _script(script: Script) -> str:
    kind = ' type="module"' if script.module else ""
    return f"<script{kind}>{script.text}</script>"


def _scheme() -> str:
    radios = "".join(
        f'<label title="{name} colours"><input type="radio" name="scheme" value="{name}" '
        f'aria-label="{name}"{" checked" if name == "system" else ""}>{sign}</label>'
        for name, sign in SCHEMES
    )
    return f'<fieldset class="scheme"><legend>Colours</legend>{radios}</fieldset>'


def html_figures(figures: Iterable[tuple[str, str, bool]]) -> Iterator[str]:
    """Yield cards of figures: name, value, and whether it is a bad one."""
    yield '<dl class="figures">'
    for name, value, bad in figures:
        mark = ' class="bad"' if bad else ""
        yield f"<div{mark}><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
    yield "</dl>"


def html_facts(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of a list of names and values."""
    yield '<dl class="facts">'
    yield from (f"<dt>{html_text(name)}</dt><dd>{html_text(value)}</dd>" for name, value in facts)
    yield "</dl>"


def html_table(
    head: Sequence[str],
    rows: Iterable[Iterable[object]],
    label: str,
    *,
    attributes: Iterable[str] = repeat(""),
) -> Iterator[str]:
    """Yield the lines of a table, which readers sort by a column; a menu hides columns.

    Args:
        head: The names of the columns.
        rows: Values of cells: text, `Html`, whole numbers or `Cell`; numbers are on the right.
        label: The name of the table, for those who hear it.
        attributes: The HTML attributes of each row, such as its id.
    """
    cells = [tuple(row) for row in rows]
    numbers = {at for row in cells for at, value in enumerate(row) if _is_number(value)}
    names = "".join(
        f'<th scope="col"{" class=number" if at in numbers else ""}>{html_text(name)}</th>'
        for at, name in enumerate(head)
    )
    yield f'<div class="table" tabindex="0" role="group" aria-label="{html_text(label)}">'
    yield f"<table><thead><tr>{names}</tr></thead><tbody>"
    for row, extra in zip(cells, attributes, strict=False):
        yield f"<tr{extra}>{''.join(map(_cell, row))}</tr>"
    yield "</tbody></table></div>"


def _is_number(value: object) -> bool:
    return isinstance(value.key if isinstance(value, Cell) else value, (int, float))


def _cell(value: object) -> str:
    if isinstance(value, int):
        value = Cell(f"{value:,}", value)
    if isinstance(value, Cell):
        kind = "number" if _is_number(value) else "when"
        key = value.key.isoformat() if isinstance(value.key, datetime) else str(value.key)
        data = f' data-key="{key}"' if key != value.text else ""
        return f'<td class="{kind}"{data}>{html_text(value.text)}</td>'
    if isinstance(value, Html):
        return f"<td>{value}</td>"
    text = html_text(str(value))
    return f'<td class="long">{text}</td>' if len(text) > LONG else f"<td>{text}</td>"


def html_code(text: Html | str, label: str = "") -> str:
    """Return a block of code, which the page's script makes a `.code` with a button that copies it.

    label: The name of the block, for those who hear it, unless the heading before it is its name.
    """
    code = text if isinstance(text, Html) else html_text(text, lines=True)
    named = f' data-label="{html_text(label)}"' if label else ""
    return f"<pre{named}>{code}</pre>"


def html_fold(name: str, summary: str, body: Iterable[str], *, id_: str = "") -> Iterator[str]:
    """Yield a card that opens by a click, or by a link to it, which stands beside it.

    Args:
        name: What it is about, for those who hear the link.
        summary: The HTML that is always shown, without links.
        body: Lines of HTML.
        id_: The id to which links lead, of an element inside: browsers open what is around it.
    """
    anchor = f' id="{html_text(id_)}"' if id_ else ""
    yield f'<div class="item"><details class="fold"><summary>{summary}</summary><div{anchor}>'
    yield from body
    yield f"</div></details>{html_link(id_, name) if id_ else ''}</div>"


def html_link(name: str, text: str) -> str:
    """Return a link to the element with this id, next to its title, for readers to copy."""
    address = html_text(quote(name))
    return f'<a class="here" href="#{address}" aria-label="Link to {html_text(text)}">#</a>'


def html_badge(severity: str, text: str | None = None) -> str:
    """Return a badge in the colour of a severity: error, warning, note or fine."""
    return f'<span class="badge {html_text(severity)}">{html_text(text or severity)}</span>'


def html_text(value: str, *, lines: bool = False) -> str:
    """Escape text, also for attributes in double quotes, where apostrophes need no escape.

    Control characters are shown, except the ends of lines if it has several.
    """
    parts = value.split("\n") if lines else [value]
    return html.escape("\n".join(map(printable, parts)), quote=False).replace('"', "&quot;")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
