"""Define compiled schemas, and the lookup of schemas by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

SchemaId = int | UUID
"""A registry's number of a schema, or its GUID."""

MAX_BYTES: Final = 1 << 20
"""Bytes of the largest value that is decoded."""

VALUES: Final = 100_000
"""Nested values of a value at most, since a few bytes may announce any number."""

DEPTH: Final = 64
"""Nesting depth at most."""


def name_cost(name: str) -> int:
    """Return how many values a name in a schema counts as, since each value repeats it.

    >>> name_cost("order_id"), name_cost("n" * 1600)
    (0, 100)
    """
    return len(name) // 16


class Unread(ValueError):
    """An error: a value can't be decoded."""


class Schema(NamedTuple):
    """A compiled schema. `read` decodes the bytes after the id, and raises Unread."""

    kind: Literal["avro", "protobuf", "json"]
    read: Callable[[bytes], Any]


Lookup = Callable[[SchemaId], Schema | str]
"""Returns the schema with an id, or why it is unknown (so far). It never blocks traffic."""


def check_nesting(value: Any) -> None:
    """Raise Unread for more than DEPTH nested arrays and objects.

    >>> check_nesting([[1], {"a": []}])
    """
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > DEPTH:
            raise Unread(f"more than {DEPTH} arrays and objects within each other")
        level = [
            inner
            for parent in level
            if isinstance(parent, dict | list)
            for inner in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(inner, dict | list)
        ]
