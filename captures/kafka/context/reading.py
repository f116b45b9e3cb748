"""Some fields of an exchange, where they can be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import codec_of


def bodies(exchange: Exchange) -> Iterator[tuple[Direction, bytes]]:
    """Those that an exchange has."""
    for direction in DIRECTIONS:
        body = exchange.body(direction)
        if body is not None:
            yield direction, body


def fields(exchange: Exchange, direction: Direction, *paths: str) -> dict[str, Any] | None:
    """At least these fields of a body, as far as the version has them; None if it can't be read or is
    absent. One that is decoded already needs no decoding of its own."""
    known = exchange.known(direction)
    if known is not None:
        return known
    return fields_of(exchange.key, exchange.version, direction, exchange.body(direction), *paths)


def fields_of(
    key: int, version: int, direction: Direction, body: bytes | None, *paths: str
) -> dict[str, Any] | None:
    """The same of a body by itself."""
    if body is None:
        return None
    try:
        version = body_version(key, version, direction, body)
        return codec_of(key, version, direction).project(*paths)(body)
    except (LookupError, Malformed):
        return None
