"""What every mutator is: places in a message where it can do something, and what it does there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fuzz.dice import Dice
from fuzz.fieldmap import FieldMap, Part


class Mutated(NamedTuple):
    """The chunks as they go on the wire (sizes included), and what was done in words."""

    chunks: tuple[bytes, ...]
    detail: str


class Mutator(NamedTuple):
    """A way to break a message.

    places: the parts of a message that it can be applied to, found once for a seed; none: not at all.
    apply: what it does at one of them. Both are pure.
    """

    name: str
    about: str
    places: Callable[[FieldMap], Sequence[Part]]
    apply: Callable[[FieldMap, Part, Dice], Mutated]
