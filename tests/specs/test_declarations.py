"""Every declaration against Kafka's message definitions, field by field."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs.declaration import FOREVER, UNSET, Field, Type
from barnabas.specs.message import Api, Message
from tests.places import GOLDEN

DEFINITIONS = GOLDEN / "definitions.json.gz"
with gzip.open(DEFINITIONS) as file:
    UNION = json.load(file)["union"]

ALWAYS = (0, FOREVER)


def snake(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def versions(text: str | None) -> tuple[int, int] | None:
    if text in (None, "none"):
        return None
    first, _, last = str(text).replace("+", f"-{FOREVER}").partition("-")
    return int(first), int(last or first)


def both(one: tuple[int, int] | None, other: tuple[int, int]) -> tuple[int, int] | None:
    """The versions in both ranges."""
    if one is None:
        return None
    common = max(one[0], other[0]), min(one[1], other[1])
    return common if common[0] <= common[1] else None


def default_of(kind: str, text: Any) -> Any:
    if text is None or text == "":
        return None
    text = str(text)
    if text == "null":
        return "null"
    if kind == "bool":
        return text.lower() == "true" or None
    if kind == "float64":
        return float(text) or None
    return text if kind == "string" else int(text, 0) or None


def from_definition(
    fields: list[dict[str, Any]], commons: dict[str, Any], valid: tuple[int, int], path: str = ""
) -> dict[str, Any]:
    """path -> (type, versions, nullable versions, tag, default) of everything in a definition."""
    found: dict[str, Any] = {}
    for field in fields:
        name = f"{path}{snake(field['name'])}"
        present = both(versions(field.get("versions") or field["taggedVersions"]), valid)
        if present is None:
            continue
        kind = field["type"]
        inner = field.get("fields") or commons.get(kind.removeprefix("[]"))
        shape = "[]struct" if inner and kind.startswith("[]") else "struct" if inner else kind
        tag = int(field["tag"]) if versions(field.get("taggedVersions")) else None
        found[name] = (
            shape,
            present,
            both(versions(field.get("nullableVersions")), present),
            tag,
            default_of(kind, field.get("default")),
        )
        if inner:
            found |= from_definition(inner, commons, present, name + ".")
    return found


def from_declaration(
    fields: tuple[Field, ...], valid: tuple[int, int], path: str = ""
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields:
        kind: Type = field.type
        name = f"{path}{field.name}"
        present = both((kind.first, kind.last), valid)
        if present is None:  # a shared structure may have fields that came after this place left
            continue
        if kind.last_release is not None:  # see test_releases.py
            continue
        inner = kind.element or kind
        shape = f"[]{inner.kind}" if kind.element else kind.kind
        nullable = None
        if kind.nullable_first is not None:
            nullable = both((kind.nullable_first, kind.nullable_last), present)
        default = kind.default_value
        default = None if default is UNSET else "null" if default is None else default
        found[name] = (shape, present, nullable, kind.tag_number, default or None)
        if inner.kind == "struct":
            found |= from_declaration(inner.fields, present, name + ".")
    return found


def definition_of(union: dict[str, Any], valid: tuple[int, int]) -> dict[str, Any]:
    pieces = union.get("pieces") or [{"versions": union["versions"], "def": union["def"]}]
    found: dict[str, Any] = {}
    for piece in pieces:
        definition = piece["def"]
        commons = {c["name"]: c["fields"] for c in definition.get("commonStructs") or []}
        part = both(versions(piece["versions"]), valid)
        assert part is not None
        for name, facts in from_definition(definition["fields"], commons, part).items():
            if name not in found:
                found[name] = facts
                continue
            shape, present, nullable, tag, default = found[name]
            assert (shape, tag, default) == (facts[0], facts[3], facts[4])
            joined = (min(present[0], facts[1][0]), max(present[1], facts[1][1]))
            nulls = [n for n in (nullable, facts[2]) if n]
            null = (min(n[0] for n in nulls), max(n[1] for n in nulls)) if nulls else None
            found[name] = (shape, joined, null, tag, default)
    return found


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, name, _ in specs.REGISTRY])
def test_every_field_is_as_kafka_defines_it(key: int, name: str) -> None:
    api: Api = specs.api(key)
    union = UNION[str(key)]
    assert api.name == name == union["request"]["name"].removesuffix("Request")
    for direction in ("request", "response"):
        valid = versions(union[direction]["versions"])
        assert valid == api.versions
        definition = union[direction].get("def") or union[direction]["pieces"][-1]["def"]
        flexible = versions(definition["flexibleVersions"])
        assert api.flexible == (flexible[0] if flexible else FOREVER)
        message: Message = api.message(direction)
        ours = from_declaration(message.fields, api.versions)
        theirs = definition_of(union[direction], api.versions)
        assert ours == theirs
        if name not in MERGED:
            assert list(ours) == list(theirs)  # wire order matters as much


MERGED = ("ListOffsets", "OffsetCommit")
"""Declared from two definitions: their order is proved by the golden frames."""


def test_all_apis_are_there() -> None:
    assert [key for key, _, _ in specs.REGISTRY] == list(range(len(specs.REGISTRY)))
