"""Fewer elements of arrays, then fields at their defaults: all at once, then halves, then one by one.

What a change was put to stays as it is; so does what it stands in.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from fuzz.case import Change, Recipe
from fuzz.shrinking.step import Step, closed, opened
from specs.contents import api
from specs.frames import Frame
from specs.layout import Layout, Node, Slot

Path = tuple[str | int, ...]

_STEPS: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_SMALLEST: Final[dict[str, Any]] = {"string": "", "bytes": b"", "records": b"", "bool": False}


class _Edit(NamedTuple):
    """A field gets another value; or an element is dropped (`value` is _DROP)."""

    path: Path
    value: Any


_DROP: Final = object()


def path_of(text: str) -> Path:
    """A dotted path as its steps.

    >>> path_of("topics[2].name.length")
    ('topics', 2, 'name', 'length')
    """
    return tuple(int(number) if number else name for number, name in _STEPS.findall(text))


def path_text(path: Path) -> str:
    """The same the other way round.

    >>> path_text(("topics", 2, "name"))
    'topics[2].name'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(
        "."
    )


def _edited(
    recipe: Recipe, edits: Callable[[Layout, Any, set[Path]], list[_Edit]]
) -> Iterator[Recipe]:
    frame = opened(recipe.seed)
    if frame is None:
        return
    layout = api(frame.key).message(frame.direction).codec(frame.version).layout
    # a change needs all that is around it
    needed = {
        path[:length]
        for change in recipe.changes
        for path in [path_of(change.path)]
        for length in range(len(path) + 1)
    }
    for some in _portions(edits(layout, frame.body, needed)):
        smaller = _apply(recipe, frame, some)
        if smaller is not None:
            yield smaller


def _portions(edits: list[_Edit]) -> Iterator[list[_Edit]]:
    """All of them, then halves, quarters ... down to each alone."""
    size = len(edits)
    while size:
        for first in range(0, len(edits), size):
            yield edits[first : first + size]
        size = 0 if size == 1 else (size + 1) // 2


def _apply(recipe: Recipe, frame: Frame, edits: Sequence[_Edit]) -> Recipe | None:
    body = copy.deepcopy(frame.body)
    changes = recipe.changes
    # from behind, so that what is dropped does not move what is still to be edited
    for edit in sorted(edits, key=lambda one: _order(one.path), reverse=True):
        where: Any = body
        for step in edit.path[:-1]:
            where = where[step]
        if edit.value is _DROP:
            del where[edit.path[-1]]
            changes = tuple(_moved(change, edit.path) for change in changes)
        else:
            where[edit.path[-1]] = edit.value
    seed = closed(recipe.seed, replace(frame, body=body))
    if seed is None or seed == recipe.seed:
        return None
    return replace(recipe, seed=seed, changes=changes)


def _order(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (0, step) for step in path]


def _moved(change: Change, dropped: Path) -> Change:
    """The change, of which an earlier neighbour was dropped perhaps."""
    path = path_of(change.path)
    depth = len(dropped) - 1
    last = dropped[-1]
    here = path[depth] if len(path) > depth else None
    if (
        path[:depth] == dropped[:-1]
        and isinstance(here, int)
        and isinstance(last, int)
        and here > last
    ):
        return change._replace(path=path_text((*path[:depth], here - 1, *path[depth + 1 :])))
    return change


def _elements(layout: Layout, value: Any, needed: set[Path], path: Path = ()) -> list[_Edit]:
    """Elements of arrays that no change needs."""
    found: list[_Edit] = []
    for slot in layout.slots:
        inner, node, here = value.get(slot.name), slot.node, (*path, slot.name)
        if isinstance(inner, dict) and node.struct is not None:
            found += _elements(node.struct, inner, needed, here)
        if not isinstance(inner, list):
            continue
        for index, item in enumerate(inner):
            at = (*here, index)
            if at not in needed:
                found.append(_Edit(at, _DROP))
            elif isinstance(item, dict) and node.element is not None and node.element.struct:
                found += _elements(node.element.struct, item, needed, at)
    return found


def _values(layout: Layout, value: Any, needed: set[Path], path: Path = ()) -> list[_Edit]:
    """Fields that no change needs and that are not as small as they can be."""
    found: list[_Edit] = []
    for slot in layout.slots:
        if slot.name not in value:
            continue
        inner, node, here = value[slot.name], slot.node, (*path, slot.name)
        if here not in needed and inner not in (least := _least(slot)):
            found.append(_Edit(here, least[0]))
        elif isinstance(inner, dict) and node.struct is not None:
            found += _values(node.struct, inner, needed, here)
        elif isinstance(inner, list) and node.element is not None and node.element.struct:
            for index, item in enumerate(inner):
                found += _values(node.element.struct, item, needed, (*here, index))
    if value.get("_tags") and (*path, "_tags") not in needed:
        found.append(_Edit((*path, "_tags"), {}))
    return found


def _least(slot: Slot) -> list[Any]:
    """The values of a field that are not made smaller: its default, and the smallest there is."""
    return [slot.fresh_default(), *_smallest(slot.node)]


def _smallest(node: Node) -> list[Any]:
    if node.kind in ("struct", "array"):
        return [[]] if node.kind == "array" else []
    return [_SMALLEST[node.kind]] if node.kind in _SMALLEST else []


ELEMENTS: Final = Step(
    "elements", "fewer elements of arrays", lambda recipe: _edited(recipe, _elements)
)
VALUES: Final = Step("values", "fields at their defaults", lambda recipe: _edited(recipe, _values))
