"""What every mutator is: places in a message where it can do something, and what it does there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, NamedTuple

from barnabas.fuzz.cases.case import Delivery
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part

LARGEST: Final = 1 << 20
"""Bytes of a case that no mutator exceeds beyond those of the seed; a bomb may be larger unpacked."""


class Mutated(NamedTuple):
    """The chunks as they go on the wire (sizes included), what was done in words, and how to write them."""

    chunks: tuple[bytes, ...]
    detail: str
    delivery: Delivery = "whole"


class Mutator(NamedTuple):
    """A way to break a message.

    places: the parts of a message that it can be applied to, found once for a seed; none: not at all.
    apply: what it does at one of them. Both are pure.
    turns: how often a place has its turn in one pass of a campaign: more where there are many ways.
    per: what a place is in that: each field, or, where fields differ in nothing else, each kind of field.
    """

    name: str
    about: str
    places: Callable[[FieldMap], Sequence[Part]]
    apply: Callable[[FieldMap, Part, SeededRandom], Mutated]
    turns: int = 1
    per: Literal["field", "kind"] = "field"
