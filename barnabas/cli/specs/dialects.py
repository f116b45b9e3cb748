"""`barnabas spec ... --dialect`: protocols that are not Kafka's, and which fields are reconstructed."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from barnabas.cli.console.terminal import Terminal
from barnabas.cli.specs.listing import Which, dump
from barnabas.specs.dialects import Dialect, DialectApi, dialect, dialects, problems
from barnabas.specs.guide import lines, tree
from barnabas.trouble import FINE, Trouble


def list_dialects(*, as_json: bool) -> int:
    """Print all dialects with their APIs, who sends requests to whom, and the source.

    Raises Trouble in the end if a dialect is unusable.
    """
    _print_all(as_json)
    if unusable := problems():
        raise Trouble("; ".join(unusable))
    return FINE


def _print_all(as_json: bool) -> None:
    if as_json:
        dump([_facts(each) for each in dialects()])
        return
    out = Terminal()
    for each in dialects():
        out.print(Text(f"{each.name}: {each.title}", "bold"))
        out.print(Text(f"  {each.document}", "dim"))
        for one in each.apis:
            marks = f"  reconstructed: {', '.join(one.reconstructed)}" if one.reconstructed else ""
            asks = f"{one.asker} asks {one.answerer}"
            out.print(Text(f"  {one.key:>3}  {one.name:<17} {asks:<25}{marks}".rstrip()))


def _facts(each: Dialect) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.title,
        "document": each.document,
        "apis": [_api_facts(one) for one in each.apis],
    }


def _api_facts(one: DialectApi) -> dict[str, Any]:
    return {
        "key": one.key,
        "name": one.name,
        "asker": one.asker,
        "answerer": one.answerer,
        "source": one.source,
        "reconstructed": list(one.reconstructed),
        "because": one.because,
    }


def known(name: str, which_api: str) -> tuple[Dialect, DialectApi]:
    """Return a dialect and an API of it. Raises Trouble if there is none of the name."""
    try:
        found = dialect(name)
        return found, found.api(which_api)
    except LookupError as problem:
        raise Trouble(str(problem)) from None


def show(name: str, which_api: str, which: Which, *, as_json: bool) -> int:
    """Print an API of a dialect; what no source gives is marked."""
    found, one = known(name, which_api)
    if as_json:
        layouts = {message.name: tree(message.layout(one.version)) for message in one.messages}
        headers = {
            "request": tree(found.request_header.layout(0)),
            "response": tree(found.response_header_of(one).layout(0)),
        }
        names = {"dialect": found.name, "draft": found.name}  # draft: as it was called at first
        return dump(_api_facts(one) | names | {"headers": headers, "layouts": layouts})
    out = Terminal()
    out.print(Text(f"{one.name} (key {one.key}{_mark(one, 'key')}) of {found.title}", "bold"))
    out.print(
        Text(f"{one.asker} asks {one.answerer}. Source: {found.document}; {one.source}.", "dim")
    )
    if one.because:
        out.print(Text(f"Reconstructed: {', '.join(one.reconstructed)}. {one.because}", "yellow"))
    parts = (
        ("request", (found.request_header, one.request)),
        ("response", (found.response_header_of(one), *one.responses)),
    )
    for way, messages in parts:
        if which in (None, way):
            out.print()
            for message in messages:
                for line in lines(message.name, message.layout(message.versions[0])):
                    out.print(line)
    return FINE


def _mark(one: DialectApi, path: str) -> str:
    return ", reconstructed" if one.is_reconstructed(path) else ""
