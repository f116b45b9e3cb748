"""Fewer elements of arrays, fields at their defaults, lower values: all at once, halves, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.edits import DROP, Edit, Path, edited
from barnabas.specs.layout import Layout, Node, Slot

_SMALLEST: Final[dict[str, Any]] = {"string": "", "bytes": b"", "records": b"", "bool": False}


def _elements(layout: Layout, value: Any, needed: set[Path], path: Path = ()) -> list[Edit]:
    """Return edits that drop elements of arrays which no change needs."""
    edits: list[Edit] = []
    for slot in layout.slots:
        inner, node, here = value.get(slot.name), slot.node, (*path, slot.name)
        if isinstance(inner, dict) and node.struct is not None:
            edits += _elements(node.struct, inner, needed, here)
        if not isinstance(inner, list):
            continue
        for index, item in enumerate(inner):
            at = (*here, index)
            if at not in needed:
                edits.append(Edit(at, DROP))
            elif isinstance(item, dict) and node.element is not None and node.element.struct:
                edits += _elements(node.element.struct, item, needed, at)
    return edits


_Edits = Callable[[Slot, Any, Path], list[Edit]]
"""Returns the edits of one field; none if it stays."""


def _fields(
    layout: Layout, value: Any, needed: set[Path], edits: _Edits, path: Path = ()
) -> list[Edit]:
    """Return the edits of fields that no change needs, or of their contents; unknown tags are dropped."""
    all_edits: list[Edit] = []
    for slot in layout.slots:
        if slot.name not in value:
            continue
        inner, node, here = value[slot.name], slot.node, (*path, slot.name)
        if here not in needed and (field_edits := edits(slot, inner, here)):
            all_edits += field_edits
        elif isinstance(inner, dict) and node.struct is not None:
            all_edits += _fields(node.struct, inner, needed, edits, here)
        elif isinstance(inner, list) and node.element is not None and node.element.struct:
            for index, item in enumerate(inner):
                all_edits += _fields(node.element.struct, item, needed, edits, (*here, index))
    if value.get("_tags") and (*path, "_tags") not in needed:
        all_edits.append(Edit((*path, "_tags"), {}))
    return all_edits


def _default(slot: Slot, value: Any, path: Path) -> list[Edit]:
    least = _least(slot)
    return [] if value in least else [Edit(path, least[0])]


def _empty(slot: Slot, value: Any, path: Path) -> list[Edit]:
    least = _least(slot)
    return [] if value in least or len(least) == 1 else [Edit(path, least[-1])]


def _half(slot: Slot, value: Any, path: Path) -> list[Edit]:
    if slot.node.kind == "records" or value in _least(slot):
        return []
    half = halved(value)
    return [] if half == value else [Edit(path, half)]


def halved(value: Any) -> Any:
    """Return a number nearer to 0, or half of a string or bytes; other and small values unchanged.

    >>> halved(7), halved(-7), halved(1), halved("abc"), halved(b"a"), halved(None)
    (3, -3, 1, 'a', b'a', None)
    """
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1:
        return value // 2 if value > 0 else -(-value // 2)
    if isinstance(value, str | bytes) and len(value) > 1:
        return value[: len(value) // 2]
    return value


def fewer_elements(recipe: Recipe) -> Iterator[Recipe]:
    """Drop elements of arrays."""
    return edited(recipe, _elements)


def smallest_values(recipe: Recipe) -> Iterator[Recipe]:
    """Set fields to their defaults, then empty them."""
    yield from edited(recipe, partial(_fields, edits=_default))
    yield from edited(recipe, partial(_fields, edits=_empty))


def lower_values(recipe: Recipe) -> Iterator[Recipe]:
    """Bring numbers nearer to 0, and halve strings."""
    return edited(recipe, partial(_fields, edits=_half))


def _least(slot: Slot) -> list[Any]:
    """Return the values of a field that are not made smaller: its default, and the smallest one."""
    return [slot.fresh_default(), *_smallest(slot.node)]


def _smallest(node: Node) -> list[Any]:
    if node.kind in ("struct", "array"):
        return [[]] if node.kind == "array" else []
    return [_SMALLEST[node.kind]] if node.kind in _SMALLEST else []
