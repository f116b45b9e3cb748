"""The tables that the dissector reads by: every version of every message is in them."""

from __future__ import annotations

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.layout import Layout
from barnabas.specs.message import Message
from barnabas.specs.wireshark.table import snake


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
