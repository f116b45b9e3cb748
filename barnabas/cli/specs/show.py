"""`barnabas spec show`: the layout of an API, and its history."""

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
"""The columns after a field's name; a column that is empty for all fields is left out."""


def show(name: str, version: int | None, which: Which, release: str | None, as_json: bool) -> int:
    """Print an API: a version as in Kafka's protocol guide, or the history of all versions."""
    declaration = known(name, version, release)
    shown_directions = directions(which)
    if as_json:
        if version is None:
            return dump(facts(declaration) | _all_versions(declaration, shown_directions))
        return dump(
            facts(declaration) | _one_version(declaration, shown_directions, version, release)
        )
    out = Terminal()
    purpose_text, source = purpose(declaration)
    path = module_of(declaration).removeprefix("barnabas.").replace(".", "/") + ".py"
    out.print(
        Text(fit(f"{declaration.name} (key {declaration.key}): {purpose_text}", 2, out), "bold")
    )
    span_of_all = f"version{'s' * (declaration.versions[1] > 0)} {versions_text(declaration)}"
    if declaration.stable < declaration.versions[1]:
        span_of_all += f" (unstable from {declaration.stable + 1} on)"
    first = f"{span_of_all}, flexible {flexible_text(declaration)}; declared in {path}"
    for line in (first, f"source: {source}"):
        out.print(Text(fit(line, 2, out), "dim"))
    for direction in shown_directions:
        out.print()
        if version is None:
            _history(out, declaration, direction)
        else:
            _layout(out, declaration, direction, version, release)
    if version is None:
        _changes(out, declaration, shown_directions)
    return FINE


def source(name: str, version: int, which: Which, release: str | None) -> int:
    """Print the Python code of a version's decoder and encoder."""
    declaration = known(name, version, release)
    out = Terminal()
    for number, direction in enumerate(directions(which)):
        text = declaration.message(direction).codec(version, release).source()
        header = f"# {declaration.name} {direction}, version {version}\n"
        separate = "\n\n" if number else ""
        out.print(
            Syntax(separate + header + text, "python", background_color="default", word_wrap=True)
            if out.is_terminal
            else Text(separate + header + text, end="")
        )
    return FINE


def directions(which: Which) -> tuple[Direction, ...]:
    """Return the directions to show."""
    return ("request", "response") if which is None else (which,)


def known(name: str, version: int | None, release: str | None) -> Api:
    """Return an API by its name or key. Raises Trouble for an unknown API, version or release."""
    _known_release(release)
    try:
        declaration = api(name)
        if version is not None:
            first, last = declaration.versions
            if not first <= version <= last:
                raise Trouble(f"{declaration.name} has versions {first} to {last}, not {version}")
            declaration.request.layout(version, release)
    except (LookupError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    return declaration


def _known_release(release: str | None) -> None:
    """Raise Trouble for an unknown release; patch releases and suffixes after a dash are accepted."""
    releases = (*BEFORE, *RELEASES)
    if release is not None and not any(
        f"{release.partition('-')[0]}.".startswith(f"{each}.") for each in releases
    ):
        raise Trouble(
            f"unknown release {release!r} of Kafka; known are {releases[0]} to {releases[-1]}"
            f"{did_you_mean(release, releases)}"
        )


def _layout(
    out: Terminal, declaration: Api, direction: Direction, version: int, release: str | None
) -> None:
    out.print(
        Text(
            f"{direction} header v{header_version(direction, declaration.key, version)}, then",
            "dim",
        )
    )
    unstable = ", unstable" * (version > declaration.stable)
    title = f"{declaration.name} {direction.capitalize()} (Version: {version}{unstable})"
    layout = declaration.message(direction).layout(version, release)
    for line in lines(title, layout):
        indent = len(line) - len(line.lstrip())
        out.print(fit(line, indent + 4, out))
    rows = _rows_of(declaration, direction, version, release)
    if rows:
        out.print()
        _table(out, "field", rows, COLUMNS[1:], declaration.versions)


def _rows_of(
    declaration: Api, direction: Direction, version: int, release: str | None
) -> list[Row]:
    message = declaration.message(direction)
    present = {each.dotted for each in message.layout(version, release).walk()}
    return [
        row
        for row in history(message)
        if row.path in present and row.versions[0] <= version <= row.versions[1]
    ]


def _history(out: Terminal, declaration: Api, direction: Direction) -> None:
    used = ", ".join(
        f"v{header} ({span(versions, declaration.versions)})"
        for header, versions in headers(declaration)[direction].items()
    )
    out.print(Text(f"{direction} header {used}, then", "dim"))
    rows = history(declaration.message(direction))
    if rows:
        _table(out, f"{direction} field", rows, COLUMNS, declaration.versions)
    else:
        out.print("no fields")


def _table(
    out: Terminal, title: str, rows: Iterable[Row], columns: Iterable[str], versions: Versions
) -> None:
    """Print aligned columns, a line for each field."""
    cells = {
        "field": [title, *("  " * row.depth + row.name for row in rows)],
        **{name: [name, *(_cell(row, name, versions) for row in rows)] for name in columns},
    }
    columns_shown = [column for column in cells.values() if any(column[1:])]
    widths = [max(map(len, column)) for column in columns_shown]
    for number, line in enumerate(zip(*columns_shown, strict=True)):
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


def _changes(out: Terminal, declaration: Api, shown_directions: Iterable[Direction]) -> None:
    brought = {
        version: [line for line in change_lines if not _of_other(line, shown_directions)]
        for version, change_lines in changes(declaration).items()
    }
    if not brought:
        return
    out.print()
    title = "what each version changed (+ added, - removed, ? nullable now, ! no longer nullable)"
    out.print(Text(fit(title, 2, out), "bold"))
    for version, change_lines in brought.items():
        whole = (
            line.replace(" ", UNBROKEN) for line in change_lines
        )  # no sign at the end of a line
        line = f"  v{version:<3} {', '.join(whole) or 'no change of layout'}"
        out.print(fit(line, 7, out).replace(UNBROKEN, " "))


def _of_other(line: str, shown_directions: Iterable[Direction]) -> bool:
    """Check that a change is of a direction that is not shown."""
    return line[0] in "+-?!" and not any(
        line[2:].startswith(f"{direction}.") for direction in shown_directions
    )


def _all_versions(declaration: Api, shown_directions: Iterable[Direction]) -> dict[str, Any]:
    return {
        "headers": {
            direction: {
                str(header): list(versions)
                for header, versions in headers(declaration)[direction].items()
            }
            for direction in shown_directions
        },
        **{
            direction: [_row(row) for row in history(declaration.message(direction))]
            for direction in shown_directions
        },
        "changes": {
            str(version): [line for line in change_lines if not _of_other(line, shown_directions)]
            for version, change_lines in changes(declaration).items()
        },
    }


def _one_version(
    declaration: Api, shown_directions: Iterable[Direction], version: int, release: str | None
) -> dict[str, Any]:
    return {"version": version, "release": release} | {
        direction: {
            "header": header_version(direction, declaration.key, version),
            "fields": tree(declaration.message(direction).layout(version, release)),
            "history": [_row(row) for row in _rows_of(declaration, direction, version, release)],
        }
        for direction in shown_directions
    }


def _row(row: Row) -> dict[str, Any]:
    """Return a row for JSON; `default` is left out unless it is declared."""
    facts_of_it = {
        "path": row.path,
        "type": row.type,
        "versions": list(row.versions),
        "nullable": None if row.nullable is None else list(row.nullable),
        "tag": row.tag,
        "releases": row.releases or None,
    }
    return facts_of_it if row.default is UNSET else facts_of_it | {"default": row.default}
