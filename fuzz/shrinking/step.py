"""What every step is: recipes that are a little smaller than one, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.fuzz.cases.case import Recipe, Seed
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES


class Step(NamedTuple):
    """A way to make a recipe smaller. What it yields is strictly smaller, so that all comes to an end;
    some of it may not be possible to cook."""

    name: str
    about: str
    smaller: Callable[[Recipe], Iterator[Recipe]]


def opened(seed: Seed) -> Frame | None:
    """A seed's message, decoded; None if it can't be."""
    if seed.key not in NAMES:
        return None
    try:
        return decode_frame(seed.frame, seed.direction, key=seed.key, version=seed.version)
    except (Malformed, LookupError):
        return None


def closed(seed: Seed, frame: Frame) -> Seed | None:
    """The seed with another message; None if that can't be written."""
    try:
        data = encode_frame(frame)[4:]
    except Unfit:
        return None
    return Seed(frame.key, frame.version, seed.direction, data, seed.origin)
