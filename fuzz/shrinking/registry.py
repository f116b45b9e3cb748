"""The registry: every step, in the order in which they are tried: what saves most comes first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.shrinking.fields import fewer_elements, lower_values, smallest_values
from barnabas.fuzz.shrinking.recipes import (
    fewer_changes,
    fewer_session_steps,
    smaller_draws,
    without_session,
)
from barnabas.fuzz.shrinking.records import less_in_records
from barnabas.fuzz.shrinking.versions import lower_versions

Step = Callable[[Recipe], Iterator[Recipe]]
"""Yields recipes that are strictly smaller than one, so that all comes to an end; some of them may not be
possible to cook."""

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
