"""Edits of a seed's message: elements dropped, other values; the paths of changes are moved along.

What a change was put to stays as it is; so does what it stands in.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.shrinking.messages import closed, opened
from barnabas.specs.frames import Frame
from barnabas.specs.layout import Layout
from barnabas.specs.registry import api

Path = tuple[str | int, ...]

_STEPS: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_E = TypeVar("_E")


class Edit(NamedTuple):
    """A field gets another value; or an element is dropped (`value` is DROP)."""

    path: Path
    value: Any


DROP: Final = object()
"""In the place of a value: the element goes."""


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


def needed_by(changes: Iterable[Change]) -> set[Path]:
    """What stays: the places of changes, and all that they stand in."""
    return {
        path[:length]
        for change in changes
        for path in [path_of(change.path)]
        for length in range(len(path) + 1)
    }


def edited(
    recipe: Recipe, edits: Callable[[Layout, Any, set[Path]], list[Edit]]
) -> Iterator[Recipe]:
    """The recipe with such edits of its message, many of them at once first."""
    frame = opened(recipe.seed)
    if frame is None:
        return
    layout = api(frame.key).message(frame.direction).codec(frame.version).layout
    for some in portions(edits(layout, frame.body, needed_by(recipe.changes))):
        smaller = _apply(recipe, frame, some)
        if smaller is not None:
            yield smaller


def portions(edits: list[_E]) -> Iterator[list[_E]]:
    """All of them, then halves, quarters ... down to each alone."""
    size = len(edits)
    while size:
        for first in range(0, len(edits), size):
            yield edits[first : first + size]
        size = 0 if size == 1 else (size + 1) // 2


def _apply(recipe: Recipe, frame: Frame, edits: Sequence[Edit]) -> Recipe | None:
    body = copy.deepcopy(frame.body)
    changes = recipe.changes
    # from behind, so that what is dropped does not move what is still to be edited
    for edit in sorted(edits, key=lambda one: _order(one.path), reverse=True):
        where: Any = body
        for step in edit.path[:-1]:
            where = where[step]
        if edit.value is DROP:
            del where[edit.path[-1]]
            changes = tuple(moved(change, edit.path) for change in changes)
        else:
            where[edit.path[-1]] = edit.value
    return rewritten(recipe, frame, body, changes)


def rewritten(
    recipe: Recipe, frame: Frame, body: dict[str, Any], changes: tuple[Change, ...]
) -> Recipe | None:
    """The recipe with another message, and changes that fit it; None if it can't be written, or is the
    same."""
    seed = closed(recipe.seed, replace(frame, body=body))
    if seed is None or seed == recipe.seed:
        return None
    return recipe._replace(seed=seed, changes=changes)


def _order(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (0, step) for step in path]


def moved(change: Change, dropped: Path) -> Change:
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
