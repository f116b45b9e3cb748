"""Requests to APIs that do not exist, or to another one than the body is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.specs.registry import REGISTRY

_KEYS: Final = tuple(key for key, _, _ in REGISTRY)
_UNKNOWN: Final = (_KEYS[-1] + 1, 127, 128, 255, 256, 1000, 32767, -1, -2, -32768)


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The key in the header of a request."""
    return [part for part in fieldmap.parts[:3] if part.path == "header.request_api_key"]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """An unknown key, or another API's."""
    new = dice.pick(_UNKNOWN if dice.chance(2) else _KEYS)
    if new == part.value:
        new = 30000
    return number(fieldmap, part, WRITE["int16"](new), dice, f"key {new} instead of {part.value}")


API_KEYS = Mutator("api_keys", "an unknown API key, or that of another API", places, apply, turns=2)
