"""The registry of all steps of shrinking, in the order in which they are tried: the largest savings first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.fields import fewer_elements, lower_values, smallest_values
from barnabas.fuzz.shrinking.recipes import (
    fewer_changes,
    fewer_session_steps,
    lower_versions,
    smaller_draws,
    without_session,
)
from barnabas.fuzz.shrinking.records import less_in_records

Step = Callable[[Recipe], Iterator[Recipe]]
"""Yields recipes that are strictly smaller, so that shrinking ends; some may be impossible to cook."""

STEPS: Final[tuple[Step, ...]] = (
    without_session,
    fewer_session_steps,
    fewer_changes,
    fewer_elements,
    smallest_values,
    less_in_records,
    lower_versions,
    lower_values,
    smaller_draws,
)
