"""Recipes and observations as JSON and back, for the database and for other processes.

Bytes are URL-safe base64. Nothing is lost: what comes back is equal.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pydantic import ConfigDict, TypeAdapter

from fuzz.case import Recipe
from fuzz.observation import Observation

_BASE64: Final = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


# pydantic takes settings for neither a dataclass nor what it holds, but for what is around it
class _Recipe(NamedTuple):
    it: Recipe


class _Observation(NamedTuple):
    it: Observation


_RECIPE: Final = TypeAdapter(_Recipe, config=_BASE64)
_OBSERVATION: Final = TypeAdapter(_Observation, config=_BASE64)


def recipe_json(recipe: Recipe) -> str:
    """A recipe as JSON."""
    return _RECIPE.dump_json(_Recipe(recipe)).decode()


def recipe_of(text: str) -> Recipe:
    """The recipe of that JSON. Raises ValueError."""
    return _RECIPE.validate_json(text).it


def observation_json(observation: Observation) -> str:
    """An observation, with its case, as JSON."""
    return _OBSERVATION.dump_json(_Observation(observation)).decode()


def observation_of(text: str) -> Observation:
    """The observation of that JSON. Raises ValueError."""
    return _OBSERVATION.validate_json(text).it
