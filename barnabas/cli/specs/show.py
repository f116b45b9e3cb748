"""`barnabas spec show`: how an API is laid out, and how it came to that."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from rich.syntax import Syntax
from rich.text import Text

from barnabas.cli.console.terminal import Terminal
from barnabas.cli.specs.listing import Which, dump, facts, fit, versions_text
from barnabas.nearest import did_you_mean
from barnabas.specs import api
from barnabas.specs.declaration import UNSET
from barnabas.specs.frames import Direction
from barnabas.specs.guide import (
    Row,
    Versions,
    changes,
    flexible_text,
    headers,
    history,
    lines,
    module_of,
    purpose,
    span,
    tree,
)
from barnabas.specs.headers import header_version
from barnabas.specs.message import Api
from barnabas.specs.releases import BEFORE, RELEASES
from barnabas.trouble import FINE, Trouble

UNBROKEN: Final = "\u00a0"

COLUMNS: Final = ("type", "versions", "nullable", "tag", "default", "releases")
"""What stands behind a field's name; a column that says nothing of any field is left out."""


def show(name: str, version: int | None, which: Which, release: str | None, as_json: bool) -> int:
    """One API: a version as in Kafka's protocol guide, or the history of all."""
    found = known(name, version, release)
    ways = directions(which)
    if as_json:
        if version is None:
            return dump(facts(found) | _all_versions(found, ways))
        return dump(facts(found) | _one_version(found, ways, version, release))
    out = Terminal()
    what, source = purpose(found)
    where = module_of(found).removeprefix("barnabas.").replace(".", "/") + ".py"
    out.print(Text(fit(f"{found.name} (key {found.key}): {what}", 2, out), "bold"))
    span_of_all = f"version{'s' * (found.versions[1] > 0)} {versions_text(found)}"
    if found.stable < found.versions[1]:
        span_of_all += f" (unstable from {found.stable + 1} on)"
    first = f"{span_of_all}, flexible {flexible_text(found)}; declared in {where}"
    for line in (first, f"source: {source}"):
        out.print(Text(fit(line, 2, out), "dim"))
    for way in ways:
        out.print()
        if version is None:
            _history(out, found, way)
        else:
            _layout(out, found, way, version, release)
    if version is None:
        _changes(out, found, ways)
    return FINE


def source(name: str, version: int, which: Which, release: str | None) -> int:
    """The Python that is generated for a version: decoder and encoder."""
    found = known(name, version, release)
    out = Terminal()
    for number, way in enumerate(directions(which)):
        text = found.message(way).codec(version, release).source()
        header = f"# {found.name} {way}, version {version}\n"
        separate = "\n\n" if number else ""
        out.print(
            Syntax(separate + header + text, "python", background_color="default", word_wrap=True)
            if out.is_terminal
            else Text(separate + header + text, end="")
        )
    return FINE


def directions(which: Which) -> tuple[Direction, ...]:
    """Those that are asked for."""
    return ("request", "response") if which is None else (which,)


def known(name: str, version: int | None, release: str | None) -> Api:
    """The API of that name or key. Raises Trouble for one, or a version or release, that there is not."""
    _known_release(release)
    try:
        found = api(name)
        if version is not None:
            first, last = found.versions
            if not first <= version <= last:
                raise Trouble(f"{found.name} has versions {first} to {last}, not {version}")
            found.request.layout(version, release)
    except (LookupError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    return found


def _known_release(release: str | None) -> None:
    """Raises Trouble for what is none; a patch release is one, and what stands behind a dash."""
    known = (*BEFORE, *RELEASES)
    if release is not None and not any(
        f"{release.partition('-')[0]}.".startswith(f"{one}.") for one in known
    ):
        raise Trouble(
            f"no release {release!r} of Kafka is known; there are {known[0]} to {known[-1]}"
            f"{did_you_mean(release, known)}"
        )


def _layout(out: Terminal, found: Api, way: Direction, version: int, release: str | None) -> None:
    out.print(Text(f"{way} header v{header_version(way, found.key, version)}, then", "dim"))
    unstable = ", unstable" * (version > found.stable)
    title = f"{found.name} {way.capitalize()} (Version: {version}{unstable})"
    layout = found.message(way).layout(version, release)
    for line in lines(title, layout):
        indent = len(line) - len(line.lstrip())
        out.print(fit(line, indent + 4, out))
    rows = _rows_of(found, way, version, release)
    if rows:
        out.print()
        _table(out, "field", rows, COLUMNS[1:], found.versions)


def _rows_of(found: Api, way: Direction, version: int, release: str | None) -> list[Row]:
    message = found.message(way)
    present = {each.dotted for each in message.layout(version, release).walk()}
    return [
        row
        for row in history(message)
        if row.path in present and row.versions[0] <= version <= row.versions[1]
    ]


def _history(out: Terminal, found: Api, way: Direction) -> None:
    used = ", ".join(
        f"v{header} ({span(versions, found.versions)})"
        for header, versions in headers(found)[way].items()
    )
    out.print(Text(f"{way} header {used}, then", "dim"))
    rows = history(found.message(way))
    if rows:
        _table(out, f"{way} field", rows, COLUMNS, found.versions)
    else:
        out.print("no fields")


def _table(
    out: Terminal, title: str, rows: Iterable[Row], columns: Iterable[str], versions: Versions
) -> None:
    """Aligned columns, a field a line."""
    cells = {
        "field": [title, *("  " * row.depth + row.name for row in rows)],
        **{name: [name, *(_cell(row, name, versions) for row in rows)] for name in columns},
    }
    shown = [column for column in cells.values() if any(column[1:])]
    widths = [max(map(len, column)) for column in shown]
    for number, line in enumerate(zip(*shown, strict=True)):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        text = Text("  ".join(padded).rstrip(), "" if number else "bold")
        if number:
            text.stylize("cyan", 0, widths[0])
        out.print(text)


def _cell(row: Row, column: str, versions: Versions) -> str:
    match column:
        case "versions":
            return span(row.versions, versions)
        case "nullable":
            return "" if row.nullable is None else span(row.nullable, versions)
        case "tag":
            return "" if row.tag is None else str(row.tag)
        case "default":
            return "" if row.default is UNSET else json.dumps(row.default)
    return str(getattr(row, column))


def _changes(out: Terminal, found: Api, ways: Iterable[Direction]) -> None:
    brought = {
        version: [line for line in what if not _of_other(line, ways)]
        for version, what in changes(found).items()
    }
    if not brought:
        return
    out.print()
    title = "what each version brought (+ came, - left, ? may be null, ! may not any more)"
    out.print(Text(fit(title, 2, out), "bold"))
    for version, what in brought.items():
        whole = (line.replace(" ", UNBROKEN) for line in what)  # no sign at the end of a line
        line = f"  v{version:<3} {', '.join(whole) or 'no change of layout'}"
        out.print(fit(line, 7, out).replace(UNBROKEN, " "))


def _of_other(line: str, ways: Iterable[Direction]) -> bool:
    """Whether a change is one of a direction that was not asked for."""
    return line[0] in "+-?!" and not any(line[2:].startswith(f"{way}.") for way in ways)


def _all_versions(found: Api, ways: Iterable[Direction]) -> dict[str, Any]:
    return {
        "headers": {
            way: {str(header): list(versions) for header, versions in headers(found)[way].items()}
            for way in ways
        },
        **{way: [_row(row) for row in history(found.message(way))] for way in ways},
        "changes": {
            str(version): [line for line in what if not _of_other(line, ways)]
            for version, what in changes(found).items()
        },
    }


def _one_version(
    found: Api, ways: Iterable[Direction], version: int, release: str | None
) -> dict[str, Any]:
    return {"version": version, "release": release} | {
        way: {
            "header": header_version(way, found.key, version),
            "fields": tree(found.message(way).layout(version, release)),
            "history": [_row(row) for row in _rows_of(found, way, version, release)],
        }
        for way in ways
    }


def _row(row: Row) -> dict[str, Any]:
    """A row for programs; `default` only where one is declared."""
    facts_of_it = {
        "path": row.path,
        "type": row.type,
        "versions": list(row.versions),
        "nullable": None if row.nullable is None else list(row.nullable),
        "tag": row.tag,
        "releases": row.releases or None,
    }
    return facts_of_it if row.default is UNSET else facts_of_it | {"default": row.default}
