"""Valid but unusual text."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.mutating.changes import change, of_kinds
from barnabas.fuzz.mutating.mutator import Mutated, Mutator

TEXTS: Final = (
    " ",
    ".",
    "..",
    "/",
    "../../x",
    "a\0b",
    "\n",
    "\x1b[31m",
    "%s%n{}${a}",
    "a" * 249,
    "a" * 250,
    "__consumer_offsets",
    "__transaction_state",
    "__cluster_metadata",
    "\u202etopic",
    "\U0001f980",
    "null",
    "-1",
    "2147483648",
    '{"a":',
    "<default>",
    "*",
    ",",
    "::1",
    "[::1]:9092",
)
"""File names, patterns, internal topics, names of 249 letters and more (a topic's longest is 249)."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Another text."""
    text = dice.pick(TEXTS)
    new = text.encode()
    if new == fieldmap.seed.frame[part.start : part.end]:
        new = b"?"
    detail = f"{text if len(text) < 40 else text[:40] + '…'!r}"
    return change(fieldmap, part.around, part.start, part.end, new, dice, detail)


ODD_TEXT = Mutator("odd_text", "valid but unusual text", of_kinds(("string",)), apply)
