"""Codes that nobody knows, in the place of error codes and of what else stands for one of a few things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part, field_of
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutating.changes import number
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.specs.error_codes import ERROR_CODES

_LAST_ERROR: Final = ERROR_CODES[-1].code
_OF_RECORDS: Final = ("magic", "attributes")


def places(fieldmap: FieldMap) -> Sequence[Part]:
    """Error codes, and fields of 8 bits: in Kafka's messages these are enumerations all."""
    return [
        part
        for part in fieldmap.parts
        if (part.kind == "int8" and field_of(part.path).rpartition(".")[2] not in _OF_RECORDS)
        or (part.kind == "int16" and part.path.endswith(("error_code", "acks")))
    ]


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """A code beyond those that there are, or one of those that does not belong there."""
    choices: tuple[int, ...]
    if part.kind == "int16":
        choices = (
            _LAST_ERROR + 1,
            _LAST_ERROR + 100,
            -2,
            -32768,
            32767,
            dice.pick(ERROR_CODES).code,
        )
    else:
        choices = (-128, -2, -1, 0, 3, 5, 13, 31, 64, 127)
    new = dice.pick(choices)
    if new == part.value:
        new = -5
    return number(fieldmap, part, WRITE[part.coding](new), dice, f"{new} instead of {part.value}")


ENUMS = Mutator("enums", "an unknown code, or another one", places, apply, turns=2)
