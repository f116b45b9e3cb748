"""Layouts for people: one version in the notation of Kafka's protocol guide, and the history of all versions.

Pure functions return lines, rows, and trees for programs. The notation is that of the protocol guide
(Protocol.java, schemaToBnfHtml). Guides of different releases write the tagged section differently. Here,
known tags are named as in the newest guide, and every structure that may have unknown ones ends with
`_tagged_fields`, as in the guides of 3.x.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from barnabas.specs.declaration import FOREVER, UNSET, Field, Type
from barnabas.specs.frames import Direction
from barnabas.specs.headers import header_version
from barnabas.specs.jsonform import to_json
from barnabas.specs.layout import Layout, Node, Slot
from barnabas.specs.message import Api, Message
from barnabas.specs.registry import REGISTRY

Versions = tuple[int, int]


def module_of(api: Api) -> str:
    """Return the name of the module that declares an API.

    >>> from barnabas.specs import api
    >>> module_of(api("EndTxn"))
    'barnabas.specs.apis.end_txn'
    """
    return next(f"barnabas.specs.apis.{module}" for key, _, module in REGISTRY if key == api.key)


def purpose(api: Api) -> tuple[str, str]:
    """Return the purpose of an API and the source of its layout: the two parts of its module's docstring.

    >>> from barnabas.specs import api
    >>> purpose(api("EndTxn"))[0]
    'commits or aborts a transaction'
    """
    text = inspect.cleandoc(importlib.import_module(module_of(api)).__doc__ or "")
    description, _, source = text.partition("\n\n")
    _, _, description = " ".join(description.split()).partition(": ")
    return description.rstrip("."), " ".join(source.split()).removeprefix("Layout: ")


def headers(api: Api) -> dict[Direction, dict[int, Versions]]:
    """Return the header versions of each direction, with the API's versions that use them.

    >>> from barnabas.specs import api
    >>> headers(api("StopReplica"))
    {'request': {1: (0, 1), 2: (2, 4)}, 'response': {0: (0, 1), 1: (2, 4)}}
    """
    versions_by_header: dict[Direction, dict[int, Versions]] = {"request": {}, "response": {}}
    for version in range(api.versions[0], api.versions[1] + 1):
        for direction in versions_by_header:
            header = header_version(direction, api.key, version)
            first, _ = versions_by_header[direction].get(header, (version, version))
            versions_by_header[direction][header] = (first, version)
    return versions_by_header


# one version, as in the protocol guide


def lines(name: str, layout: Layout) -> list[str]:
    r"""Return a layout in the notation of Kafka's protocol guide.

    >>> from barnabas.specs import api
    >>> print(*lines("Heartbeat Response (Version: 4)", api("Heartbeat").response.layout(4)), sep="\n")
    Heartbeat Response (Version: 4) => throttle_time_ms error_code _tagged_fields
      throttle_time_ms => INT32
      error_code => INT16
    """
    return list(_lines(name, layout, 0))


def _lines(name: str, layout: Layout, depth: int) -> Iterator[str]:
    names = [_bracketed(slot) for slot in _ordered(layout)]
    if layout.flexible:
        names.append("_tagged_fields")
    yield "  " * depth + " ".join((name, "=>", *names))
    for slot in _ordered(layout):
        inner = slot.node.inner
        if inner.struct is not None:
            yield from _lines(_tagged(slot.name, slot), inner.struct, depth + 1)
        else:
            yield "  " * (depth + 1) + f"{_tagged(slot.name, slot)} => {wire_type(inner)}"


def _ordered(layout: Layout) -> tuple[Slot, ...]:
    return (*layout.plain, *layout.tagged)


def _bracketed(slot: Slot) -> str:
    return _tagged(slot.name if slot.node.element is None else f"[{slot.name}]", slot)


def _tagged(name: str, slot: Slot) -> str:
    return name if slot.tag is None else f"{name}<tag: {slot.tag}>"


def wire_type(node: Node) -> str:
    """Return the name of a type in Kafka's protocol guide.

    >>> wire_type(Node("string", compact=True, nullable=True))
    'COMPACT_NULLABLE_STRING'
    """
    if node.element is not None:
        return ("COMPACT_ARRAY" if node.compact else "ARRAY") + f" of {wire_type(node.element)}"
    if node.struct is not None:
        return "NULLABLE_STRUCT" if node.nullable else "STRUCT"
    plain = _type_name(node.kind)
    if node.kind not in ("string", "bytes", "records"):
        return plain
    nullable = "NULLABLE_" if node.nullable and node.kind != "records" else ""
    return ("COMPACT_" if node.compact else "") + nullable + plain


def _type_name(kind: str) -> str:
    return "BOOLEAN" if kind == "bool" else kind.upper()


def tree(layout: Layout) -> list[dict[str, Any]]:
    """Return a layout for programs: name, type, nullable, tag, default, and inner fields."""
    return [
        {
            "name": slot.name,
            "type": wire_type(slot.node),
            "array": slot.node.element is not None,
            "nullable": slot.node.nullable,
            "tag": slot.tag,
            "default": to_json(slot.fresh_default()),
        }
        | ({"fields": tree(inner)} if (inner := slot.node.inner.struct) else {})
        for slot in layout.slots
    ]


# all versions


@dataclass(frozen=True, slots=True)
class Row:
    """A field over all versions; `depth` counts the structures around it."""

    path: str
    depth: int
    name: str
    type: str
    versions: Versions
    nullable: Versions | None
    tag: int | None
    default: Any
    """The default in JSON form, or UNSET for the zero value of the type."""
    releases: str
    """The releases that have the field, e.g. `until 3.6`; empty: all."""


def history(message: Message) -> list[Row]:
    """Return the fields of a message over all its versions, in wire order."""
    return list(_history(message.fields, message.versions, "", 0, ""))


def _history(
    fields: tuple[Field, ...], around: Versions, prefix: str, depth: int, releases: str
) -> Iterator[Row]:
    for field in fields:
        kind = field.type
        present = _common((kind.first, kind.last), around)
        if present is None:
            continue  # a shared structure may have newer fields than the versions that use it here
        inner = kind.element or kind
        nullable = None
        if kind.nullable_first is not None:
            nullable = _common((kind.nullable_first, kind.nullable_last), present)
        only = _releases(kind) or releases
        type_name = (
            _type_name(inner.kind) if kind.element is None else f"[{_type_name(inner.kind)}]"
        )
        yield Row(
            prefix + field.name,
            depth,
            field.name,
            type_name,
            present,
            nullable,
            kind.tag_number,
            kind.default_value if kind.default_value is UNSET else to_json(kind.default_value),
            only,
        )
        yield from _history(inner.fields, present, f"{prefix}{field.name}.", depth + 1, only)


def _common(first: Versions, second: Versions) -> Versions | None:
    common = max(first[0], second[0]), min(first[1], second[1])
    return common if common[0] <= common[1] else None


def _releases(kind: Type) -> str:
    since = f"since {kind.first_release}" if kind.first_release else ""
    until = f"until {kind.last_release}" if kind.last_release else ""
    if kind.first_release and kind.first_release == kind.last_release:
        return f"only {kind.first_release}"
    return " ".join(part for part in (since, until) if part)


def span(versions: Versions, all_of: Versions) -> str:
    """Return a range of versions as text, given the range of all versions.

    >>> span((0, 4), (0, 4)), span((3, 4), (0, 4)), span((0, 2), (0, 4)), span((1, 1), (0, 4))
    ('0+', '3+', '0-2', '1')
    """
    first, last = versions
    if last >= all_of[1]:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


def changes(api: Api) -> dict[int, list[str]]:
    """Return the changes of each version, e.g. `+ request.rack_id`.

    `+` marks a new field, `-` a removed field, `?` a field that may be null from this version on, `!` a field
    that may no longer be null. A structure stands for all fields inside it. The newest release is used.
    """
    changes_by_version: dict[int, list[str]] = {
        version: [] for version in range(api.versions[0] + 1, api.versions[1] + 1)
    }
    if 0 < api.flexible <= api.versions[1]:
        changes_by_version[api.flexible].append("compact and tagged encoding (KIP-482)")
    for message in (api.request, api.response):
        direction = "request" if message is api.request else "response"
        rows = {
            row.path: row
            for row in history(message)
            if not row.releases.startswith(("until", "only"))
        }
        for row in rows.values():
            first, last = row.versions
            parent = rows.get(row.path.rpartition(".")[0])
            around = message.versions if parent is None else parent.versions
            if first > around[0]:
                changes_by_version[first].append(f"+ {direction}.{row.path}")
            if last < around[1]:
                changes_by_version[last + 1].append(f"- {direction}.{row.path}")
            if row.nullable and row.nullable[0] > first:
                changes_by_version[row.nullable[0]].append(f"? {direction}.{row.path}")
            if row.nullable and row.nullable[1] < last:
                changes_by_version[row.nullable[1] + 1].append(f"! {direction}.{row.path}")
    return changes_by_version


def flexible_text(api: Api) -> str:
    """Return the first version with compact and tagged encoding as text, or `none`."""
    return (
        "none" if api.flexible == FOREVER or api.flexible > api.versions[1] else f"{api.flexible}+"
    )
