"""The search for a smaller recipe: greedy, step by step, until nothing smaller fires or runs are used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.registry import STEPS, Step

RUNS: Final = 200
"""How often it is tried whether something fires, unless told otherwise."""


class Shrunk(NamedTuple):
    """The smallest recipe that fired, and how often that was tried."""

    recipe: Recipe
    runs: int


def _larger(candidate: Recipe, current: Recipe, size: Callable[[Recipe], int]) -> bool:
    """Whether it has more bytes and no fewer changes. What a lower version takes more for its own message is
    no more: the version is what is simpler."""
    more = size(candidate) - size(current)
    if candidate.seed.version < current.seed.version:
        more -= max(0, len(candidate.seed.frame) - len(current.seed.frame))
    return more > 0 and len(candidate.changes) >= len(current.changes)


def shrink(
    recipe: Recipe,
    fires: Callable[[Recipe], bool],
    *,
    runs: int = RUNS,
    steps: Sequence[Step] = STEPS,
    size: Callable[[Recipe], int] = lambda recipe: len(recipe.seed.frame),
) -> Shrunk:
    """Make a recipe that fires smaller. `fires` is called at most `runs` times, never twice for the same
    recipe; it says False also of what can't be cooked. size: bytes of its case; no step makes them more with
    as many changes."""
    tried = {recipe}
    spent = 0
    current = recipe
    smaller: Recipe | None = recipe
    while smaller is not None:
        smaller = None
        for step in steps:
            for candidate in step(current):
                if candidate in tried or _larger(candidate, current, size):
                    continue
                if spent >= runs:
                    return Shrunk(current, spent)
                tried.add(candidate)
                spent += 1
                if fires(candidate):
                    smaller = candidate
                    break
            if smaller is not None:
                current = smaller
                break
    return Shrunk(current, spent)
