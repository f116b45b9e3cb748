"""The interface of mutators: the parts of a message that they can change, and the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from barnabas.fuzz.cases.case import Delivery
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part, field_of

LARGEST: Final = 1 << 20
"""Bytes by which no mutator makes a case larger than its seed; a bomb may be larger unpacked."""


class Mutated(NamedTuple):
    """The chunks as they are written (sizes included), a description of the change, and the delivery."""

    chunks: tuple[bytes, ...]
    detail: str
    delivery: Delivery = "whole"


Places = Callable[[FieldMap], Sequence[Part]]
"""Finds the parts of a message that a mutator can be applied to."""

Apply = Callable[[FieldMap, Part, SeededRandom], Mutated]
"""Changes a message at one of its parts."""


class Mutator(NamedTuple):
    """A way to break a message. Both functions are pure.

    Attributes:
        name: The mutator's name.
        description: For lists.
        places: Returns the parts that the mutator can be applied to, once for a seed; none: not applicable.
        apply: Changes a message at a part.
        turns: How often a part has its turn in one pass of a campaign: more where there are many variants.
        per: What counts as a part: each field, or, where fields differ in nothing else, each kind of field.
    """

    name: str
    description: str
    places: Places
    apply: Apply
    turns: int = 1
    per: Literal["field", "kind"] = "field"

    def without(self, left_out: Mapping[tuple[int, str], Sequence[range]]) -> Mutator:
        """Return the mutator without some fields: known failures there hide later ones.

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
    """Return the frame as a whole; nothing for the content of a container."""
    return message.parts[:1] if message.packing is None else ()


def filled(message: FieldMap) -> Sequence[Part]:
    """Return the parts within the frame that have bytes."""
    return [part for part in message.parts[1:] if part.end > part.start]
