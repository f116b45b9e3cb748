"""Mutators of the header: API key, version, correlation id."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace_number
from barnabas.specs.registry import REGISTRY, api

_KEYS: Final = tuple(key for key, _, _ in REGISTRY)
_UNKNOWN: Final = (_KEYS[-1] + 1, 127, 128, 255, 256, 1000, 32767, -1, -2, -32768)


def api_key(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the key of an API that does not exist, or of another one than the body is of."""
    new = dice.pick(_UNKNOWN if dice.chance(2) else _KEYS)
    return replace_number(message, part, dice, new, 30000, "key ")


def api_version(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write a version that does not exist, or another one than the body is written in."""
    low, high = api(message.seed.key).versions
    unknown = (high + 1, high + 2, 32767, -1, -32768, 100, 256)
    new = dice.between(low, high) if dice.chance(2) else dice.pick(unknown)
    return replace_number(message, part, dice, new, high + 1, "version ")


def correlation_id(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Write the correlation id zero, one below zero, at a limit, or any other."""
    new = dice.pick((0, -1, -(2**31), 2**31 - 1, dice.between(-(2**31), 2**31 - 1)))
    return replace_number(message, part, dice, new, -2)
