"""A seed's message, decoded and encoded again."""

from __future__ import annotations

from barnabas.fuzz.cases.case import Seed
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Frame, decode_frame, encode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES


def opened(seed: Seed) -> Frame | None:
    """Decode a seed's message; None if it can't be."""
    if seed.key not in NAMES:
        return None
    try:
        return decode_frame(seed.frame, seed.direction, key=seed.key, version=seed.version)
    except (Malformed, LookupError):
        return None


def closed(seed: Seed, frame: Frame) -> Seed | None:
    """Return the seed with another message; None if that can't be encoded."""
    try:
        data = encode_frame(frame)[4:]
    except Unfit:
        return None
    return Seed(frame.key, frame.version, seed.direction, data, seed.origin)
