"""Other shapes of a response: a client may accept only one partition, only several topics, or no null.

All shapes have the same kind of content, with other numbers of elements, nulls and empty values.
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
"""Returns other values of a response."""

_Change = Callable[[Layout, Slot, Any], Any]


def single(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Return the values with at most one element in each array but a list of aborted transactions."""
    return _changed(layout, values, _first)


def several(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Return the values with several elements in each array that has any, with different names or numbers."""
    return _changed(layout, values, _more)


def nulls(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Return the values with null where it is allowed, except in fields that identify elements."""
    return _changed(layout, values, _none)


def empty(layout: Layout, values: Mapping[str, Any]) -> Values:
    """Return the values with empty arrays."""
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
"""Responses that list what exists, which may be more or less than the request names."""


def shapes(key: int) -> Iterator[tuple[str, Shape]]:
    """Yield the shapes in which a response stays valid, by name."""
    yield "single", single
    if key != keys.JOIN_GROUP:  # its protocol name is null only with an error
        yield "nulls", nulls
    if key in _LISTS:
        yield "several", several
        yield "empty", empty


def _changed(layout: Layout, values: Mapping[str, Any], change: _Change) -> Values:
    changed = dict(values)
    for slot in layout.slots:
        if changed.get(slot.name) is not None:
            changed[slot.name] = _inside(
                slot.node, change(layout, slot, changed[slot.name]), change
            )
    return changed


def _inside(node: Node, value: Any, change: _Change) -> Any:
    if value is None:
        return None
    if node.struct is not None:
        return _changed(node.struct, value, change)
    if node.element is not None:
        return [_inside(node.element, element, change) for element in value]
    return value


def _first(_: Layout, slot: Slot, value: Any) -> Any:
    return value[:1] if slot.node.element and slot.name != "aborted_transactions" else value


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
    names = [slot_named.name for slot_named in _naming(each.struct)]
    return [*value, *({**last, **{name: _other(last[name], by) for name in names}} for by in more)]


def _naming(layout: Layout) -> list[Slot]:
    """Return the fields that identify an element: the first that is no error, and ids of topics."""
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
