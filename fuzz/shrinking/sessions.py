"""Without the session, so that the message comes first on its connection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fuzz.case import Recipe
from fuzz.shrinking.step import Step


def _smaller(recipe: Recipe) -> Iterator[Recipe]:
    if recipe.session:
        # the maker of cases takes a session from its seed's origin, too
        seed = replace(recipe.seed, origin=f"without {recipe.seed.origin}")
        yield replace(recipe, seed=seed, session="")


SESSIONS: Final = Step("sessions", "without the session before the message", _smaller)
