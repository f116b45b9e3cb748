"""What a mutator is: places in a message where it can do something, and what it does there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from barnabas.fuzz.cases.case import Delivery
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part, field_of

LARGEST: Final = 1 << 20
"""Bytes by which no mutator makes a case larger than its seed; a bomb may be larger unpacked."""


class Mutated(NamedTuple):
    """The chunks as they go on the wire (sizes included), what was done in words, and how to write them."""

    chunks: tuple[bytes, ...]
    detail: str
    delivery: Delivery = "whole"


Places = Callable[[FieldMap], Sequence[Part]]
"""Finds the parts of a message that a mutator can be applied to."""

Apply = Callable[[FieldMap, Part, SeededRandom], Mutated]
"""Changes a message at one of its parts."""


class Mutator(NamedTuple):
    """A way to break a message.

    places: found once for a seed; none: the mutator can't be applied. Both functions are pure.
    turns: how often a place has its turn in one pass of a campaign: more where there are many variants.
    per: what counts as a place: each field, or, where fields differ in nothing else, each kind of field.
    """

    name: str
    about: str
    places: Places
    apply: Apply
    turns: int = 1
    per: Literal["field", "kind"] = "field"

    def without(self, left_out: Mapping[tuple[int, str], Sequence[range]]) -> Mutator:
        """Return the mutator for all places but some: what is known to fail there hides what comes after it.

        left_out: an API's key and a field -> the versions in which the mutator is not applied to it.
        """

        def places(message: FieldMap) -> Sequence[Part]:
            key, version = message.seed.key, message.seed.version
            return [
                part
                for part in self.places(message)
                if not any(
                    version in versions for versions in left_out.get((key, field_of(part.path)), ())
                )
            ]

        return self._replace(places=places)


def where(applies: Callable[[Part], bool]) -> Places:
    """Return a function that finds the parts for which a condition holds."""
    return lambda message: [part for part in message.parts if applies(part)]


def of_kinds(*kinds: str) -> Places:
    """Return a function that finds the parts of some kinds."""
    return where(lambda part: part.kind in kinds)


def named(*endings: str) -> Places:
    """Return a function that finds the numbers whose paths have one of these endings."""
    return where(lambda part: part.path.endswith(endings) and bool(part.coding))


def whole(message: FieldMap) -> Sequence[Part]:
    """Return the frame as a whole; what is packed in a message is none."""
    return message.parts[:1] if message.packing is None else ()


def filled(message: FieldMap) -> Sequence[Part]:
    """Return the parts within the frame that have bytes."""
    return [part for part in message.parts[1:] if part.end > part.start]
