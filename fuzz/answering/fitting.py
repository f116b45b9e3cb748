"""Values for a version: what it has no fields for is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from barnabas.specs.registry import api


def encoded(key: int, version: int, direction: Direction, values: Mapping[str, Any]) -> bytes:
    """The body of a version, of values that may have more fields than it. Raises Unfit, LookupError.

    >>> encoded(12, 0, "response", {"throttle_time_ms": 0, "error_code": 27}).hex()
    '001b'
    """
    codec = api(key).message(direction).codec(version)
    return codec.encode(_fitted(codec.layout, values))


def _fitted(layout: Layout, values: Mapping[str, Any]) -> dict[str, Any]:
    """Complete ones: these are written by the fast encoder."""
    found = {}
    for slot in layout.slots:
        if slot.name not in values:
            found[slot.name] = slot.fresh_default()
            continue
        value = values[slot.name]
        inner = slot.node.struct
        each = slot.node.element.struct if slot.node.element else None
        if inner is not None and value is not None:
            value = _fitted(inner, value)
        elif each is not None and value is not None:
            value = [_fitted(each, one) for one in value]
        found[slot.name] = value
    return found
