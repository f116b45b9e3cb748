"""Fewer changes, then changes by smaller draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.step import Step

SMALL: Final = 8
"""Draws below this are tried. Which is the simplest nobody knows: the first that fires is taken."""


def _fewer(recipe: Recipe) -> Iterator[Recipe]:
    for place in range(len(recipe.changes)):
        left = recipe.changes[:place] + recipe.changes[place + 1 :]
        yield recipe._replace(changes=left)


def _simpler(recipe: Recipe) -> Iterator[Recipe]:
    for place, change in enumerate(recipe.changes):
        if change.draws >= SMALL:
            for draws in range(SMALL):
                changes = list(recipe.changes)
                changes[place] = change._replace(draws=draws, detail="")
                yield recipe._replace(changes=tuple(changes))


FEWER: Final = Step("fewer changes", "without one of several changes, or without any", _fewer)
SIMPLER: Final = Step("small draws", "the same change with a small number drawn", _simpler)
