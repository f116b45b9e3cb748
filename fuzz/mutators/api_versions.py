"""Requests in versions that do not exist, or in another one than the body is written in."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.specs.registry import api


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """The version in the header of a request."""
    return [part for part in fieldmap.parts[:3] if part.path == "header.request_api_version"]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """One beyond the newest, below zero, at a limit, or another one that exists."""
    low, high = api(fieldmap.seed.key).versions
    unknown = (high + 1, high + 2, 32767, -1, -32768, 100, 256)
    new = dice.between(low, high) if dice.chance(2) else dice.pick(unknown)
    if new == part.value:
        new = high + 1
    return number(fieldmap, part, WRITE["int16"](new), dice, f"version {new}, not {part.value}")


API_VERSIONS = Mutator(
    "api_versions", "an unsupported version, or another one", places, apply, turns=3
)
