"""Values for a version: what it has no fields for is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.specs.frames import Direction
from barnabas.specs.registry import api


def encoded(key: int, version: int, direction: Direction, values: Mapping[str, Any]) -> bytes:
    """The body of a version, of values that may have more fields than it. Raises Unfit, LookupError.

    >>> encoded(12, 0, "response", {"throttle_time_ms": 0, "error_code": 27}).hex()
    '001b'
    """
    codec = api(key).message(direction).codec(version)
    return codec.encode(codec.layout.fitted(values))
