"""Edits of a seed's message: dropped elements and other values, with the paths of changes moved along.

A field that a change is applied to stays unchanged, and so do the structures around it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, TypeVar

from barnabas.fuzz.cases.case import Change, Recipe, Seed
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.layout import Layout
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api


def opened(seed: Seed) -> Frame | None:
    """Decode a seed's message; None if it can't be."""
    if seed.key not in NAMES:
        return None
    try:
        return decode_frame(seed.frame, seed.direction, key=seed.key, version=seed.version)
    except (Malformed, LookupError):
        return None


def closed(seed: Seed, frame: Frame) -> Seed | None:
    """Return the seed with another message; None if that can't be encoded."""
    try:
        data = encode_frame(frame)[4:]
    except Unfit:
        return None
    return Seed(frame.key, frame.version, seed.direction, data, seed.origin)


Path = tuple[str | int, ...]

_STEPS: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_E = TypeVar("_E")


class Edit(NamedTuple):
    """A new value for a field, or DROP for an element that is removed."""

    path: Path
    value: Any


DROP: Final = object()
"""The value of an element that is removed."""


def path_of(text: str) -> Path:
    """Return the steps of a dotted path.

    >>> path_of("topics[2].name.length")
    ('topics', 2, 'name', 'length')
    """
    return tuple(int(number) if number else name for number, name in _STEPS.findall(text))


def path_text(path: Path) -> str:
    """Return the dotted path of steps.

    >>> path_text(("topics", 2, "name"))
    'topics[2].name'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(
        "."
    )


def needed_by(changes: Iterable[Change]) -> set[Path]:
    """Return the paths of changes, and of the structures around them, which stay."""
    return {
        path[:length]
        for change in changes
        for path in [path_of(change.path)]
        for length in range(len(path) + 1)
    }


def edited(
    recipe: Recipe, edits: Callable[[Layout, Any, set[Path]], list[Edit]]
) -> Iterator[Recipe]:
    """Yield the recipe with edits of its message, many at once first."""
    frame = opened(recipe.seed)
    if frame is None:
        return
    layout = api(frame.key).message(frame.direction).codec(frame.version).layout
    for some in portions(edits(layout, frame.body, needed_by(recipe.changes))):
        smaller = _apply(recipe, frame, some)
        if smaller is not None:
            yield smaller


def portions(edits: list[_E]) -> Iterator[list[_E]]:
    """Yield all edits, then halves, quarters and so on, down to each alone."""
    size = len(edits)
    while size:
        for first in range(0, len(edits), size):
            yield edits[first : first + size]
        size = 0 if size == 1 else (size + 1) // 2


def _apply(recipe: Recipe, frame: Frame, edits: Sequence[Edit]) -> Recipe | None:
    body = copy.deepcopy(frame.body)
    changes = recipe.changes
    # from the last to the first, so that a dropped element does not move the next edits
    for edit in sorted(edits, key=lambda each: _order(each.path), reverse=True):
        container: Any = body
        for step in edit.path[:-1]:
            container = container[step]
        if edit.value is DROP:
            del container[edit.path[-1]]
            changes = tuple(moved(change, edit.path) for change in changes)
        else:
            container[edit.path[-1]] = edit.value
    return rewritten(recipe, frame, body, changes)


def rewritten(
    recipe: Recipe, frame: Frame, body: dict[str, Any], changes: tuple[Change, ...]
) -> Recipe | None:
    """Return the recipe with another message and changes; None if it can't be encoded, or is equal."""
    seed = closed(recipe.seed, replace(frame, body=body))
    if seed is None or seed == recipe.seed:
        return None
    return recipe._replace(seed=seed, changes=changes)


def _order(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (0, step) for step in path]


def moved(change: Change, dropped: Path) -> Change:
    """Return a change whose path is adjusted to a dropped element."""
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
