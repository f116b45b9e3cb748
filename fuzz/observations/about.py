"""What oracles call a case in a behaviour."""

from __future__ import annotations

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import question
from barnabas.specs.registry import NAMES


def api_of(observation: Observation) -> str:
    """The API that a case is about as a broker sees it: the one in its last whole request."""
    asked = question(observation.sent).requests if observation.sent else ()
    key = asked[-1].key if asked else observation.case.recipe.seed.key
    return NAMES.get(key, "an unknown API")


def case_of(observation: Observation) -> str:
    """The API, and the last mutation's name."""
    changes = observation.case.recipe.changes
    return f"{api_of(observation)} {changes[-1].mutator}" if changes else api_of(observation)
