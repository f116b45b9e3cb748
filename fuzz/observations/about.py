"""What oracles call a case in a behaviour."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.observations.requests import question
from barnabas.specs.registry import NAMES

NO_STACK: Final = "no stack"
"""Stands in a behaviour in front of what tells it apart in the place of frames."""

NO_CASE: Final = "no one case"
"""Whose it is where only several cases showed it: the last of them may be innocent."""


def api_of(observation: Observation) -> str:
    """The API that a case is about as a broker sees it: the one in its last whole request."""
    asked = question(observation.sent).requests if observation.sent else ()
    key = asked[-1].key if asked else observation.case.recipe.seed.key
    return NAMES.get(key, "an unknown API")


def case_of(observation: Observation) -> str:
    """The API, and the last mutation's name."""
    changes = observation.case.recipe.changes
    return f"{api_of(observation)} {changes[-1].mutator}" if changes else api_of(observation)


def placeless(observation: Observation) -> tuple[str, ...]:
    """What tells apart what left no stack: the API, and the last mutation with its field. A JVM has stacks
    for its first errors of memory only."""
    if observation.shared:
        return (NO_STACK, NO_CASE)
    return (NO_STACK, api_of(observation), *changed(observation.case))
