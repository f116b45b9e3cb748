"""Descriptions of recipes for log lines and reports."""

from __future__ import annotations

from barnabas.fuzz.cases.case import Recipe
from barnabas.specs.registry import NAMES


def made_of(recipe: Recipe) -> str:
    """Describe a recipe in one line.

    >>> from barnabas.fuzz.cases.case import Change, Seed
    >>> made_of(Recipe(Seed(3, 9, "request", b"", ""), (Change("nulls", "topics", 1, "null"),), "join"))
    'Metadata v9 request, nulls at topics: null, after join'
    """
    seed = recipe.seed
    parts = [f"{NAMES.get(seed.key, seed.key)} v{seed.version} {seed.direction}"]
    for change in recipe.changes:
        detail = f": {change.detail}" if change.detail else ""
        parts.append(f"{change.mutator} at {change.path or 'the frame'}{detail}")
    if recipe.session:
        parts.append(f"after {recipe.session}")
    return ", ".join(parts)
