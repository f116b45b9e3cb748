"""The tables that the dissector reads by: every version of every message is in them."""

from __future__ import annotations

import re

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.declaration import Array, Int32, NullableString, String, Struct
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.layout import Layout, resolve
from barnabas.specs.message import Message
from barnabas.specs.wireshark.table import Structures, snake, table

LINES = table().splitlines()


def test_every_version_of_every_api_has_its_structures() -> None:
    for key, _, module in specs.REGISTRY:
        first, last = specs.api(key).versions
        (line,) = (line for line in LINES if line.startswith(f'  [{key}] = {{"{module}", '))
        _, asked, answered = re.findall(r'"([^"]*)"', line)
        assert len(asked.split()) == len(answered.split()) == last - first + 1
        assert line.endswith(f"first = {first}}},")


def test_a_structure_is_a_text_of_its_slots() -> None:
    fields = (
        "a" / Int32,
        "b" / Array("c" / NullableString).nullable(),
        "d" / Struct("e" / Int32).tag(7),
        "f" / String.inflexible(),
    )
    structures = Structures()
    number = structures.number(resolve(fields, 0, flexible=True))
    texts = list(structures.texts)
    assert texts == ["+c:string?", "+e:int32", "+a:int32 b:[{1}]? 7=d:{2} f:~string"]
    assert number == 3
    assert structures.number(resolve(fields, 0, flexible=True)) == 3
    assert structures.number(resolve(fields[:1], 0, flexible=False)) == 4


def test_a_name_has_one_type_in_all_versions() -> None:
    kinds: dict[str, set[str]] = {}
    for key, _, module in specs.REGISTRY:
        for direction in DIRECTIONS:
            collect(specs.api(key).message(direction), f"{module}_{direction}", kinds)
    for name, _ in embedded.REGISTRY:
        collect(embedded.message(name), snake(name), kinds)
    assert len(kinds) > 2000
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {}


def collect(message: Message, prefix: str, kinds: dict[str, set[str]]) -> None:
    for version in range(message.versions[0], message.versions[1] + 1):
        walk(message.layout(version), prefix, kinds)


def walk(layout: Layout, path: str, kinds: dict[str, set[str]]) -> None:
    for slot in layout.slots:
        name, node = f"{path}.{slot.name}", slot.node
        if node.element is not None:
            kinds.setdefault(f"{name}.length", set()).add("length")
            node = node.element
        kinds.setdefault(name, set()).add(node.kind)
        if node.struct is not None:
            walk(node.struct, name, kinds)
