"""Equality of requests: exact, or without values that differ in each run, or by names only."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any, Final

from barnabas.captures.diff.bodies import IDENTITY, OF_THE_RUN, without
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.specs.jsonform import to_json
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

OF_THE_CLIENT: Final = (
    *OF_THE_RUN,
    "client_software_*",
    "offset",  # of a record in a Produce request: counted from 0 in its batch
    "records.headers",
    "max_*",
    "min_*",
)
"""Fields that may differ with another release or configuration of a client."""


def shape(key: int, version: int, body: bytes) -> Hashable:
    """Return a value that is equal for requests of an API and version that request the same.

    Topics, partitions, offsets and records count; ids, epochs, times and limits do not. A request that can't
    be decoded has its bytes as shape.

    >>> one, other = (bytes.fromhex(f"0001 67 {end}") for end in ("00000001 0001 6d", "00000002 0001 6e"))
    >>> shape(12, 0, one) == shape(12, 0, other)  # other generation, other member
    True
    """
    decoded = _read(key, version, body)
    if decoded is None:
        return body
    return json.dumps(without(to_json(unpacked(decoded)), OF_THE_CLIENT), sort_keys=True)


def named_entities(key: int, version: int, body: bytes) -> Hashable:
    """Return the topics, partitions, groups and so on that a request names."""
    decoded = _read(key, version, body)
    return body if decoded is None else frozenset(_names(to_json(decoded), ()))


def _read(key: int, version: int, body: bytes) -> dict[str, Any] | None:
    try:
        return api(key).request.codec(version).decode(body)
    except (LookupError, Malformed):
        return None


def _names(value: Any, path: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return each name with the names of the structures around it: ("topics=a", "partitions=0")."""
    names: set[tuple[str, ...]] = set()
    match value:
        case list():
            for item in value:
                names |= _names(item, path)
        case dict():
            identities = [
                f"{name}={value[name]}"
                for name in IDENTITY
                if isinstance(value.get(name), str | int)
            ]
            inner = (*path, *identities)
            if identities:
                names.add(inner)
            for child in value.values():
                names |= _names(child, inner)
    return names
