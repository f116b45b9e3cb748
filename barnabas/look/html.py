"""A report as one HTML page, which requests nothing from anywhere; all text is escaped here.

Names come from untrusted peers, which may call a client `<script>`. So the page also forbids all scripts but
its own, by hash (Content Security Policy 3).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
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


class Script(NamedTuple):
    """A script of the page; a module runs after the page is parsed."""

    text: str
    module: bool = False


def copy_script() -> Script:
    """Return the script that gives each block of `html_code` a button, which copies it."""
    return Script(look_file("copy.js"))


class Html(str):
    """HTML of a table's cell, which is not escaped."""

    __slots__ = ()


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
        scripts: Run at the end of the page.
    """
    hashes = " ".join(f"'sha256-{_hash(script.text)}'" for script in scripts) or "'none'"
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


def html_table(head: Sequence[str], rows: Iterable[Iterable[object]], label: str) -> Iterator[str]:
    """Yield the lines of a table, and name it for those who hear it; whole numbers are on the right."""
    cells = [tuple(row) for row in rows]
    numbers = {at for row in cells for at, value in enumerate(row) if isinstance(value, int)}
    names = "".join(
        f'<th scope="col"{" class=number" if at in numbers else ""}>{html_text(name)}</th>'
        for at, name in enumerate(head)
    )
    yield f'<div class="table" tabindex="0" role="group" aria-label="{html_text(label)}">'
    yield f"<table><thead><tr>{names}</tr></thead><tbody>"
    for row in cells:
        yield f"<tr>{''.join(map(_cell, row))}</tr>"
    yield "</tbody></table></div>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if isinstance(value, Html):
        return f"<td>{value}</td>"
    text = html_text(str(value))
    return f'<td class="long">{text}</td>' if len(text) > LONG else f"<td>{text}</td>"


def html_code(text: Html | str, label: str) -> str:
    """Return a block of code that may be wide, and name it for those who hear it."""
    code = text if isinstance(text, Html) else html_text(text, lines=True)
    named = f'tabindex="0" role="group" aria-label="{html_text(label)}"'
    return f'<div class="code"><pre {named}>{code}</pre></div>'


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
    """Escape text; control characters are shown, except the ends of lines if it has several."""
    parts = value.split("\n") if lines else [value]
    return html.escape("\n".join(map(printable, parts)))


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
