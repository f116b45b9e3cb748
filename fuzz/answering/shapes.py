"""A response in other shapes: a client may take only one partition, only several topics, or no null.

Each says the same kind of thing; what differs is how many there are of each, and what is null or empty.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from barnabas.specs import keys
from barnabas.specs.layout import Layout, Node, Slot

SEVERAL: Final = 3
"""Elements of an array that had fewer."""

Values = dict[str, Any]
Shape = Callable[[Layout, Mapping[str, Any]], Values]
"""Makes other values of a response's."""

_Change = Callable[[Layout, Slot, Any], Any]


def single(layout: Layout, values: Mapping[str, Any]) -> Values:
    """One element of each array at most."""
    return _changed(
        layout, values, lambda _, slot, value: value[:1] if slot.node.element else value
    )


def several(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Some elements of each array that has any, each by another name or number."""
    return _changed(layout, values, _more)


def nulls(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Null where it is allowed, but for what tells one element from another."""
    return _changed(layout, values, _none)


def empty(layout: Layout, values: Mapping[str, Any]) -> Values:
    """No elements at all."""
    return _changed(layout, values, lambda _, slot, value: [] if slot.node.element else value)


_LISTS: Final = frozenset(
    (
        keys.FETCH,
        keys.METADATA,
        keys.FIND_COORDINATOR,
        keys.LIST_GROUPS,
        keys.DESCRIBE_CLUSTER,
        keys.LIST_TRANSACTIONS,
        keys.DESCRIBE_TOPIC_PARTITIONS,
    )
)
"""Answers that say what there is, be it more or less than was asked for."""


def shapes(key: int) -> Iterator[tuple[str, Shape]]:
    """Those in which an answer is still a valid one, by name."""
    yield "single", single
    if key != keys.JOIN_GROUP:  # where what a group has chosen is null only beside an error
        yield "nulls", nulls
    if key in _LISTS:
        yield "several", several
        yield "empty", empty


def _changed(layout: Layout, values: Mapping[str, Any], change: _Change) -> Values:
    found = dict(values)
    for slot in layout.slots:
        if found.get(slot.name) is not None:
            found[slot.name] = _inside(slot.node, change(layout, slot, found[slot.name]), change)
    return found


def _inside(node: Node, value: Any, change: _Change) -> Any:
    if value is None:
        return None
    if node.struct is not None:
        return _changed(node.struct, value, change)
    if node.element is not None:
        return [_inside(node.element, one, change) for one in value]
    return value


def _none(layout: Layout, slot: Slot, value: Any) -> Any:
    return None if slot.node.nullable and slot not in _naming(layout) else value


def _more(_: Layout, slot: Slot, value: Any) -> Any:
    each = slot.node.element
    if each is None or not value or len(value) >= SEVERAL:
        return value
    more = range(1, SEVERAL + 1 - len(value))
    last = value[-1]
    if each.struct is None:
        return [*value, *(_other(last, by) for by in more)]
    names = [one.name for one in _naming(each.struct)]
    return [*value, *({**last, **{name: _other(last[name], by) for name in names}} for by in more)]


def _naming(layout: Layout) -> list[Slot]:
    """The fields that tell one element from another: the first that is no error, and ids of topics."""
    slots = [slot for slot in layout.slots if not slot.name.startswith("error")]
    return slots[:1] + [slot for slot in slots[1:] if slot.name == "topic_id"]


def _other(value: Any, by: int) -> Any:
    match value:
        case bool() | None:
            return value
        case int():
            return value + by
        case str():
            return f"{value}-{by}"
        case uuid.UUID():
            return uuid.UUID(int=value.int + by)
    return value
