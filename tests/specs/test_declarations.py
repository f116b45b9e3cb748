"""Every declaration against Kafka's message definitions, field by field."""

from __future__ import annotations

import re
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import keys
from barnabas.specs.declaration import FOREVER, UNSET, Field, Type
from barnabas.specs.message import Api, Message
from barnabas.specs.registry import NAMES
from tests.golden.definitions import ANEW, DEFINITIONS, newest, versions
from tests.golden.frames import snake

ALWAYS = (0, FOREVER)


def both(one: tuple[int, int] | None, other: tuple[int, int]) -> tuple[int, int] | None:
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


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, name, _ in specs.REGISTRY])
def test_every_field_is_as_kafka_defines_it(key: int, name: str) -> None:
    api: Api = specs.api(key)
    for direction in ("request", "response"):
        pieces = list(newest(key, direction))
        (_, last), definition = pieces[0]
        assert api.name == name == definition["name"].removesuffix(direction.title())
        assert api.versions == (pieces[-1][0][0], last), ANEW
        flexible = versions(definition["flexibleVersions"])
        assert api.flexible == (flexible[0] if flexible else FOREVER)
        if direction == "request":
            assert (api.stable < last) == definition.get("latestVersionUnstable", False)
        message: Message = api.message(direction)
        for valid, definition in pieces:
            commons = {c["name"]: c["fields"] for c in definition.get("commonStructs") or []}
            ours = from_declaration(message.fields, valid)
            theirs = from_definition(definition["fields"], commons, valid)
            assert ours == theirs, ANEW
            assert list(ours) == list(theirs)  # wire order matters as much


def test_all_apis_are_there() -> None:
    requests = [one for one in DEFINITIONS["messages"].values() if one["type"] == "request"]
    assert [key for key, _, _ in specs.REGISTRY] == sorted({one["apiKey"] for one in requests})


def test_each_api_has_its_constant() -> None:
    expected = {
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper(): key for key, name in NAMES.items()
    }
    found = {name: value for name, value in vars(keys).items() if name.isupper()}
    assert found == expected
