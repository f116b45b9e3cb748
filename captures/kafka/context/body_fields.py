"""Read fields of bodies that may be undecodable."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import codec_of


def fields(exchange: Exchange, direction: Direction, *paths: str) -> dict[str, Any] | None:
    """Return at least these fields of a body, as `Exchange.project` does; None also if it is undecodable."""
    try:
        return exchange.project(direction, *paths)
    except (LookupError, Malformed):
        return None


def fields_of(
    key: int, version: int, direction: Direction, body: bytes | None, *paths: str
) -> dict[str, Any] | None:
    """Return at least these fields of a body; None if it is undecodable or absent."""
    if body is None:
        return None
    try:
        version = body_version(key, version, direction, body)
        return codec_of(key, version, direction).project(*paths)(body)
    except (LookupError, Malformed):
        return None
