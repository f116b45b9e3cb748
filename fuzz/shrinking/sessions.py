"""Without the session, so that the message comes first on its connection; or without some of its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.sessions.registry import named
from barnabas.fuzz.sessions.shortening import asked, parts, shortened
from barnabas.fuzz.shrinking.step import Step


def _none(recipe: Recipe) -> Iterator[Recipe]:
    if recipe.session:
        # the maker of cases takes a session from its seed's origin, too
        seed = replace(recipe.seed, origin=f"without {recipe.seed.origin}")
        yield recipe._replace(seed=seed, session="")


def _shorter(recipe: Recipe) -> Iterator[Recipe]:
    """Without one more of the APIs that it asks, the last first: the others lead to it."""
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


SESSIONS: Final = Step("sessions", "without the session before the message", _none)
SESSION_STEPS: Final = Step("session steps", "without a step of the session", _shorter)
