"""A schema, once it is compiled, and who is asked for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple
from uuid import UUID

SchemaId = int | UUID
"""A registry's number of a schema, or its GUID."""

MAX_BYTES: Final = 1 << 20
"""Bytes of a value that is decoded."""

VALUES: Final = 100_000
"""Values within a value: of a longer one a few bytes may announce any number."""

DEPTH: Final = 64
"""Values within each other."""


def name_cost(name: str) -> int:
    """As how many values a name of a schema counts, which stands in each value: a long one is many.

    >>> name_cost("order_id"), name_cost("n" * 1600)
    (0, 100)
    """
    return len(name) // 16


class Unread(ValueError):
    """Why a value can't be read."""


class Schema(NamedTuple):
    """read: from the bytes behind the id to the value. Raises Unread."""

    kind: Literal["avro", "protobuf", "json"]
    read: Callable[[bytes], Any]


Lookup = Callable[[SchemaId], Schema | str]
"""The schema with an id, or why it is not known (yet). It never waits where traffic passes."""


def check_nesting(value: Any) -> None:
    """Raises Unread if there are more than DEPTH arrays and objects within each other.

    >>> check_nesting([[1], {"a": []}])
    """
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > DEPTH:
            raise Unread(f"more than {DEPTH} arrays and objects within each other")
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
