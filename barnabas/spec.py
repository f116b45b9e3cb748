"""`barnabas spec`: the protocol, looked up. What there is, how it is laid out, how it came to that."""

from __future__ import annotations

import json
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from barnabas.trouble import FINE, Trouble
from specs import CONTENTS, api
from specs.declaration import Api, Message
from specs.error_codes import ERROR_CODES
from specs.frames import Direction
from specs.guide import Row, changes, flexible_text, history, lines, purpose, span, tree
from specs.headers import request_header_version, response_header_version

Which = Literal["request", "response"] | None


def console() -> Console:
    """Stdout; as wide as the text where there is no terminal, so that programs get whole lines."""
    found = Console(highlight=False, soft_wrap=True)
    return found if found.is_terminal else Console(highlight=False, soft_wrap=True, width=4096)


def dump(value: Any) -> int:
    """JSON to stdout."""
    print(json.dumps(value, indent=2, ensure_ascii=False))
    return FINE


def list_apis(wanted: str, as_json: bool) -> int:
    """All APIs, or those whose name has this in it: key, versions, flexible since, what it is for."""
    found = [api(key) for key, name, _ in CONTENTS if wanted.lower() in name.lower()]
    if not found:
        raise Trouble(f"no API has {wanted!r} in its name; `barnabas spec list` shows all")
    if as_json:
        return dump([_facts(each) for each in found])
    out = console()
    width = max(len(each.name) for each in found)
    out.print(f"{'key':>3}  {'API':<{width}}  versions  flexible  what it is for", style="bold")
    for each in found:
        first, last = each.versions
        versions = str(first) if first == last else f"{first}-{last}"
        line = Text(f"{each.key:>3}  ")
        line.append(f"{each.name:<{width}}", "cyan")
        line.append(f"  {versions:<8}  {flexible_text(each):<8}  {purpose(each)[0]}")
        out.print(line, soft_wrap=not out.is_terminal, no_wrap=out.is_terminal, overflow="ellipsis")
    return FINE


def _facts(each: Api) -> dict[str, Any]:
    what, source = purpose(each)
    flexible = flexible_text(each)
    return {
        "key": each.key,
        "name": each.name,
        "versions": list(each.versions),
        "flexible_since": None if flexible == "none" else each.flexible,
        "what": what,
        "source": source,
    }


def show(name: str, version: int | None, which: Which, release: str | None, as_json: bool) -> int:
    """One API: a version as in Kafka's protocol guide, or the history of all."""
    try:
        found = api(name)
        messages = [found.message(way) for way in _directions(which)]
        if version is not None:
            for message in messages:
                message.layout(version, release)
    except (LookupError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    if as_json:
        return dump(_facts(found) | _tree(found, which, version, release))
    out = console()
    what, source = purpose(found)
    first, last = found.versions
    out.print(f"{found.name} (key {found.key}): {what}", style="bold")
    out.print(f"versions {first}-{last}, flexible {flexible_text(found)}. {source}", style="dim")
    for way in _directions(which):
        out.print()
        if version is None:
            _history(out, way, found.message(way))
        else:
            _version(out, found, way, version, release)
    if version is None:
        _changes(out, found)
    return FINE


def _directions(which: Which) -> tuple[Direction, ...]:
    return ("request", "response") if which is None else (which,)


def _version(out: Console, found: Api, way: Direction, version: int, release: str | None) -> None:
    header = (request_header_version if way == "request" else response_header_version)(
        found.key, version
    )
    out.print(f"{way.capitalize()} header v{header}, then", style="dim")
    title = f"{found.name} {way.capitalize()} (Version: {version})"
    for line in lines(title, found.message(way).layout(version, release)):
        out.print(line, markup=False)


def _history(out: Console, way: Direction, message: Message) -> None:
    named = ("type", "versions", "nullable", "tag", "default", "releases")
    rows = history(message)
    if not rows:
        out.print(f"{way}: no fields")
        return
    shown = [name for name in named if any(_cell(row, name, message) for row in rows)]
    head = [f"{way} field", *shown]
    cells = [
        ["  " * row.depth + row.name, *(_cell(row, name, message) for name in shown)]
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    for i, line in enumerate((head, *cells)):
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        text = Text("  ".join(padded).rstrip(), "" if i else "bold")
        if i:
            text.stylize("cyan", 0, widths[0])
        out.print(text)


def _cell(row: Row, column: str, message: Message) -> str:
    match column:
        case "versions":
            return span(row.versions, message.versions)
        case "nullable":
            return span(row.nullable, message.versions) if row.nullable else ""
        case "tag":
            return "" if row.tag is None else str(row.tag)
    return str(getattr(row, column))


def _changes(out: Console, found: Api) -> None:
    brought = changes(found)
    if not brought:
        return
    out.print()
    out.print("what each version brought (+ came, - left, ? may be null)", style="bold")
    for version, what in brought.items():
        out.print(f"  v{version:<3} {', '.join(what) or 'no change of layout'}", markup=False)


def _tree(found: Api, which: Which, version: int | None, release: str | None) -> dict[str, Any]:
    if version is None:
        return {
            way: [
                {
                    "path": row.path,
                    "type": row.type,
                    "versions": list(row.versions),
                    "nullable": None if row.nullable is None else list(row.nullable),
                    "tag": row.tag,
                    "default": row.default,
                    "releases": row.releases,
                }
                for row in history(found.message(way))
            ]
            for way in _directions(which)
        } | {"changes": changes(found)}
    headers = {
        "request": request_header_version(found.key, version),
        "response": response_header_version(found.key, version),
    }
    return {"version": version} | {
        way: {"header": headers[way], "fields": tree(found.message(way).layout(version, release))}
        for way in _directions(which)
    }


def errors(wanted: str, as_json: bool) -> int:
    """The error codes, or those with this number or with this in their name."""
    found = [
        error
        for error in ERROR_CODES
        if wanted in ("", str(error.code)) or wanted.upper() in error.name
    ]
    if not found:
        raise Trouble(f"no error code is, or is called like, {wanted!r}")
    if as_json:
        return dump([error._asdict() for error in found])
    out = console()
    for error in found:
        line = Text(f"{error.code:>4}  {error.name:<40}")
        line.append("retriable" if error.retriable else "", "green")
        line.rstrip()
        out.print(line)
    return FINE
