"""Labels of a case (API, mutator, field), by which oracles tell findings without a stack apart."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import parse_requests
from barnabas.specs.registry import NAMES


def last_change(case: Case) -> tuple[str, ...]:
    """Return the mutator and the field of the last change, without the structures around the field.

    Of two changes the first is often irrelevant.
    """
    return tuple(f"{change.mutator} {_last(change.path)}" for change in case.recipe.changes[-1:])


def api_and_change(case: Case) -> tuple[str, ...]:
    """Return the API and the last change, for clients that leave no trace of what they read."""
    return (NAMES.get(case.recipe.seed.key, "an unknown API"), *last_change(case))


def api_and_field(case: Case) -> tuple[str, ...]:
    """Return the API and the field of the last change, whatever the mutator."""
    api, _, *fields = recipe_labels(case.recipe)
    return api, *fields


def recipe_labels(recipe: Recipe) -> tuple[str, ...]:
    """Return the API, the direction and the field of the last change, whatever the mutator."""
    fields = (_last(change.path) for change in recipe.changes[-1:])
    return NAMES.get(recipe.seed.key, "an unknown API"), recipe.seed.direction, *fields


def _last(path: str) -> str:
    """Return the last name of a path; if it is not a name of the message's own, with the name before it.

    >>> _last("topics[0].partitions[1]._tags.count"), _last("topics[0].name"), _last("")
    ('_tags.count', 'name', 'frame')
    """
    names = [piece.partition("[")[0] for piece in path.split(".")]
    if len(names) > 1 and names[-1] in ("count", "length", "size", "crc"):
        return ".".join(names[-2:])
    return names[-1] or "frame"


NO_STACK: Final = "no stack"
"""Stands in a behaviour before the labels that replace frames."""

NO_CASE: Final = "no one case"
"""The label of a problem that only several cases show: the last of them may be innocent."""


def api_of(observation: Observation) -> str:
    """Return the API of a case as a broker sees it: that of its last whole request."""
    requests = parse_requests(observation.sent).requests if observation.sent else ()
    key = requests[-1].key if requests else observation.case.recipe.seed.key
    return NAMES.get(key, "an unknown API")


def case_of(observation: Observation) -> str:
    """Return the API, and the name of the last mutator."""
    changes = observation.case.recipe.changes
    return f"{api_of(observation)} {changes[-1].mutator}" if changes else api_of(observation)


def labels_without_stack(observation: Observation) -> tuple[str, ...]:
    """Return the labels of a problem without a stack: the API, and the last mutator with its field.

    A JVM has stacks only for its first out-of-memory errors.
    """
    if observation.shared:
        return (NO_STACK, NO_CASE)
    return (NO_STACK, api_of(observation), *last_change(observation.case))
