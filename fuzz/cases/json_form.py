"""Recipes and observations as JSON and back, for the database and for other processes.

Bytes become URL-safe base64. The round trip loses nothing: the result equals the input.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Final, NamedTuple

from pydantic import ConfigDict, PlainSerializer, TypeAdapter

from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import Observation

_BASE64: Final = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


def _named(value: object) -> object:
    """Convert named tuples and dataclasses to dicts, recursively.

    Pydantic would make lists of named tuples.
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: _named(getattr(value, name)) for name in value._fields}
    if is_dataclass(value):
        return {field.name: _named(getattr(value, field.name)) for field in fields(value)}
    return [_named(item) for item in value] if isinstance(value, tuple | list) else value


_NAMED: Final = PlainSerializer(_named, return_type=Any)


# pydantic applies a config to a named tuple around a dataclass, not to the dataclass
class _Recipe(NamedTuple):
    it: Annotated[Recipe, _NAMED]


class _Observation(NamedTuple):
    it: Annotated[Observation, _NAMED]


_RECIPE: Final = TypeAdapter(_Recipe, config=_BASE64)
_OBSERVATION: Final = TypeAdapter(_Observation, config=_BASE64)


def recipe_json(recipe: Recipe) -> str:
    """Return a recipe as JSON."""
    return _RECIPE.dump_json(_Recipe(recipe)).decode()


def recipe_of(text: str) -> Recipe:
    """Parse a recipe from JSON. Raises ValueError."""
    return _RECIPE.validate_json(text).it


def observation_json(observation: Observation) -> str:
    """Return an observation, with its case, as JSON."""
    return _OBSERVATION.dump_json(_Observation(observation)).decode()


def observation_of(text: str) -> Observation:
    """Parse an observation from JSON. Raises ValueError."""
    return _OBSERVATION.validate_json(text).it
