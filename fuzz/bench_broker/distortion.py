"""One wrong value in a valid response: the schema allows it, the state of the broker does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.specs.layout import Layout, Node

_LIMITS: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
"""Kind of a number -> bits of its largest value."""

_TIME: Final = "_ms"
"""The ending of times, for which a client may wait; addresses stay, too, since they are the bench's."""

_Place = tuple[dict[str, Any], str, Node]
"""A structure, and the name and kind of one of its fields."""


def distorted(layout: Layout, values: Mapping[str, Any], dice: SeededRandom) -> dict[str, Any]:
    """Return the values with another value in one field, which `dice` draws.

    >>> from barnabas.specs.registry import api
    >>> distorted(api(12).response.codec(0).layout, {"error_code": 0}, SeededRandom("doctest", 1))
    {'error_code': -1}
    """
    copied: dict[str, Any] = _copied(values)
    places = list(_places(layout, copied))
    if places:
        structure, name, node = dice.pick(places)
        structure[name] = dice.pick(_others(node, structure[name]))
    return copied


def _copied(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: _copied(value) for name, value in values.items()}
    return [_copied(value) for value in values] if isinstance(values, list) else values


def _places(layout: Layout, values: dict[str, Any]) -> Iterator[_Place]:
    for slot in layout.slots:
        if slot.name in ("host", "port") or slot.name.endswith(_TIME):
            continue
        if slot.name in values and _others(slot.node, values[slot.name]):
            yield values, slot.name, slot.node
        yield from _within(slot.node, values.get(slot.name))


def _within(node: Node, value: Any) -> Iterator[_Place]:
    if value is None:
        return
    if node.struct is not None:
        yield from _places(node.struct, value)
    elif node.element is not None:
        for element in value:
            yield from _within(node.element, element)


def _others(node: Node, value: Any) -> list[Any]:
    """Return other values of a field; empty for a structure, whose fields have their own."""
    absent = [None] if node.nullable and value is not None else []
    match value:
        case bool():
            return [not value]
        case int() if node.kind in _LIMITS:
            largest = (1 << _LIMITS[node.kind]) - 1
            near = (value - 1, value + 1, -1, largest)
            return [other for other in near if other != value and -largest <= other <= largest]
        case str():
            return [*absent, f"{value}-other", *([""] if value else [])]
        case bytes():
            return [*absent, value[:-1], value + value] if value else absent
        case list():
            return [*absent, [], [*value, *value]] if value else absent
    return absent
