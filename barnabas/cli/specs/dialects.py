"""`barnabas spec ... --dialect`: other protocols than Kafka's, with their reconstructed fields."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from barnabas.cli.console.terminal import Terminal
from barnabas.cli.specs.listing import Which, dump
from barnabas.specs.dialects import Dialect, DialectApi, dialect, dialects, problems
from barnabas.specs.guide import lines, tree
from barnabas.trouble import FINE, Trouble


def list_dialects(*, as_json: bool) -> int:
    """Print all dialects with their APIs, the senders and receivers of requests, and the sources.

    Raises Trouble at the end if a dialect is unusable.
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
        for api in each.apis:
            marks = f"  reconstructed: {', '.join(api.reconstructed)}" if api.reconstructed else ""
            asks = f"{api.asker} asks {api.answerer}"
            out.print(Text(f"  {api.key:>3}  {api.name:<17} {asks:<25}{marks}".rstrip()))


def _facts(each: Dialect) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.title,
        "document": each.document,
        "apis": [_api_facts(api) for api in each.apis],
    }


def _api_facts(api: DialectApi) -> dict[str, Any]:
    return {
        "key": api.key,
        "name": api.name,
        "asker": api.asker,
        "answerer": api.answerer,
        "source": api.source,
        "reconstructed": list(api.reconstructed),
        "because": api.because,
    }


def known(name: str, which_api: str) -> tuple[Dialect, DialectApi]:
    """Return a dialect and one of its APIs. Raises Trouble for an unknown name."""
    try:
        protocol = dialect(name)
        return protocol, protocol.api(which_api)
    except LookupError as problem:
        raise Trouble(str(problem)) from None


def show(name: str, which_api: str, which: Which, *, as_json: bool) -> int:
    """Print an API of a dialect; reconstructed fields are marked."""
    protocol, api = known(name, which_api)
    if as_json:
        layouts = {message.name: tree(message.layout(api.version)) for message in api.messages}
        headers = {
            "request": tree(protocol.request_header.layout(0)),
            "response": tree(protocol.response_header_of(api).layout(0)),
        }
        names = {"dialect": protocol.name, "draft": protocol.name}  # draft: the earlier name
        return dump(_api_facts(api) | names | {"headers": headers, "layouts": layouts})
    out = Terminal()
    out.print(
        Text(
            f"{api.name} (key {api.key}{_mark(api, 'key')}) of {protocol.title}",
            "bold",
        )
    )
    out.print(
        Text(
            f"{api.asker} asks {api.answerer}. Source: {protocol.document}; {api.source}.",
            "dim",
        )
    )
    if api.because:
        out.print(
            Text(
                f"Reconstructed: {', '.join(api.reconstructed)}. {api.because}",
                "yellow",
            )
        )
    parts = (
        ("request", (protocol.request_header, api.request)),
        ("response", (protocol.response_header_of(api), *api.responses)),
    )
    for direction, messages in parts:
        if which in (None, direction):
            out.print()
            for message in messages:
                for line in lines(message.name, message.layout(message.versions[0])):
                    out.print(line)
    return FINE


def _mark(api: DialectApi, path: str) -> str:
    return ", reconstructed" if api.is_reconstructed(path) else ""
