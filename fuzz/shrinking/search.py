"""The search for a smaller recipe: greedy, step by step, until nothing smaller fires or runs are used up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.registry import STEPS, Step

RUNS: Final = 200
"""The default number of runs."""


class Shrunk(NamedTuple):
    """The smallest recipe that fired, and the number of runs."""

    recipe: Recipe
    runs: int


def _larger(candidate: Recipe, current: Recipe, size: Callable[[Recipe], int]) -> bool:
    """Return whether a candidate has more bytes and no fewer changes.

    Bytes that a lower version adds to its own message do not count: the lower version is simpler.
    """
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
    """Make a recipe that fires smaller.

    Args:
        recipe: The recipe.
        fires: Tells whether a recipe fires; False for one that can't be cooked. Called at most `runs` times,
            never twice for a recipe.
        runs: The maximal number of calls.
        steps: The ways to shrink.
        size: The bytes of a recipe's case; no step makes them more with as many changes.
    """
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
