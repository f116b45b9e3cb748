"""Generated valid messages of any API, version and direction, with their headers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.pools import CLIENT_ID
from barnabas.fuzz.generators.values import ANY, Shape, drawer
from barnabas.specs.frames import Direction
from barnabas.specs.headers import encode_header
from barnabas.specs.registry import api


def message(
    key: int,
    version: int,
    direction: Direction,
    dice: SeededRandom,
    origin: str,
    shape: Shape = ANY,
) -> Seed:
    """Return a new message. Raises LookupError for an unknown version."""
    draw, encode, header = _parts(key, version, direction, shape)
    return Seed(key, version, direction, header + encode(draw(dice)), origin)


_KEPT: Final = 16


def kept(key: int, version: int, direction: Direction, dice: SeededRandom) -> bytes:
    """Return the frame of one of a few cached messages, where any will do."""
    return _kept(key, version, direction, dice.below(_KEPT))


@functools.lru_cache(maxsize=1 << 14)
def _kept(key: int, version: int, direction: Direction, number: int) -> bytes:
    return message(key, version, direction, SeededRandom("kept", number), "").frame


def with_header(key: int, version: int, direction: Direction, body: bytes, origin: str) -> Seed:
    """Return a body with a header of barnabas's client."""
    header = encode_header(direction, key, version, 1, CLIENT_ID)
    return Seed(key, version, direction, header + body, origin)


@functools.cache
def _parts(
    key: int, version: int, direction: Direction, shape: Shape
) -> tuple[Callable[[SeededRandom], Any], Callable[[Any], bytes], bytes]:
    codec = api(key).message(direction).codec(version)
    header = encode_header(direction, key, version, 1, CLIENT_ID)
    return drawer(key, version, direction, shape), codec.encode, header
