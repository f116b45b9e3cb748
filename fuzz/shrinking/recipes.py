"""Less of a recipe: fewer changes and smaller draws, no session before the message or a shorter one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.shortening import asked, parts, shortened

SMALL: Final = 8
"""Draws below this are tried. Which is the simplest nobody knows: the first that fires is taken."""


def without_session(recipe: Recipe) -> Iterator[Recipe]:
    """Leave the session out, so that the message comes first on its connection."""
    if recipe.session:
        # the maker of cases takes a session from its seed's origin, too
        seed = replace(recipe.seed, origin=f"without {recipe.seed.origin}")
        yield recipe._replace(seed=seed, session="")


def fewer_session_steps(recipe: Recipe) -> Iterator[Recipe]:
    """Leave out one more of the APIs that the session asks, the last first: the others lead to it."""
    name, left_out = parts(recipe.session)
    session = named(name)
    if session is None:
        return
    for api in reversed(asked(session)):
        if api not in left_out:
            shorter = shortened(name, (*left_out, api))
            _, _, rest = recipe.seed.origin.removeprefix("session:").partition(":")
            seed = replace(recipe.seed, origin=f"session:{shorter}:{rest}")
            yield recipe._replace(seed=seed, session=shorter)


def fewer_changes(recipe: Recipe) -> Iterator[Recipe]:
    """Leave out one of several changes, or the only one."""
    for place in range(len(recipe.changes)):
        left = recipe.changes[:place] + recipe.changes[place + 1 :]
        yield recipe._replace(changes=left)


def smaller_draws(recipe: Recipe) -> Iterator[Recipe]:
    """Make the same change with a small number drawn."""
    for place, change in enumerate(recipe.changes):
        if change.draws >= SMALL:
            for draws in range(SMALL):
                changes = list(recipe.changes)
                changes[place] = change._replace(draws=draws, detail="")
                yield recipe._replace(changes=tuple(changes))
