"""The pages of the protocol: all APIs with their versions, error codes, and every field of every version."""

from __future__ import annotations

import importlib
import inspect
import json
import re

from barnabas.specs import REGISTRY, api
from barnabas.specs.declaration import UNSET
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.guide import Row, flexible_text, history, module_of, purpose, span
from barnabas.specs.message import Api
from barnabas.specs.releases import RELEASES, offered
from tests.docs.reference.markdown import block, code, page, prose, table


def every() -> list[Api]:
    """All APIs, by key."""
    return [api(key) for key, *_ in REGISTRY]


def protocol() -> str:
    """The page of APIs and error codes."""
    newest = RELEASES[-1]
    head = ("key", "API", "versions", "flexible", "unstable", newest, "what it is for", "KIPs")
    now = offered(newest)
    codes = ((str(one.code), code(one.name), "yes" * one.retriable) for one in ERROR_CODES)
    return page(
        "Protocol: APIs and errors",
        "Every API that a release of Kafka since 0.8 has had, with all its versions. *Flexible* versions "
        "have compact strings and tagged fields (KIP-482). A broker offers an *unstable* version only with "
        f"`unstable.api.versions.enable`. The column {newest} has what brokers of that "
        f"release offer to clients. "
        "`barnabas spec show API` prints every field with its history; so does [Protocol: "
        "fields](fields.md).",
        table(head, (_row(one, now.get(one.key)) for one in every())),
        "## Error codes",
        "*Retriable*: the Java client sends the request again.",
        table(("code", "name", "retriable"), codes),
    )


def _row(one: Api, now: tuple[int, int] | None) -> tuple[str, ...]:
    last = one.versions[1]
    unstable = "" if one.stable == last else _range((one.stable + 1, last))
    source = inspect.getsource(importlib.import_module(module_of(one)))
    kips = sorted({int(number) for number in re.findall(r"KIP-(\d+)", source)})
    return (
        str(one.key),
        f"[{one.name}](fields.md#{one.name.lower()})",
        _range(one.versions),
        flexible_text(one),
        unstable,
        "" if now is None else _range(now),
        prose(purpose(one)[0]),
        ", ".join(map(str, kips)),
    )


def _range(versions: tuple[int, int]) -> str:
    first, last = versions
    return str(first) if first == last else f"{first}-{last}"


def fields() -> str:
    """The page of fields."""
    parts = []
    for one in every():
        both = "\n\n".join(_fields(one, way) for way in ("request", "response"))
        parts += [f"## {one.name}", block(both, "text")]
    return page(
        "Protocol: fields",
        "Every field of every API: its type, the versions that have it, and where it may be null (`null`), "
        "is in the tagged section (`tag`) or has a default other than zero (`=`).",
        *parts,
    )


def _fields(one: Api, way: str) -> str:
    lines = (_line(row, one.versions) for row in history(one.message(way)))
    return "\n".join((way, *lines))


def _line(row: Row, all_of: tuple[int, int]) -> str:
    said = [row.type, span(row.versions, all_of)]
    if row.nullable is not None:
        said.append(
            "null" if row.nullable == row.versions else f"null {span(row.nullable, all_of)}"
        )
    if row.tag is not None:
        said.append(f"tag {row.tag}")
    if row.default is not UNSET:
        said.append(f"= {json.dumps(row.default)}")
    if row.releases:
        said.append(row.releases)
    return "  " * (row.depth + 1) + " ".join((row.name, *said))
