"""When two requests ask for the same: exactly, but for what is another one in each run, or roughly."""

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
"""What another release of a client, or another configuration, may say otherwise."""


def shape(key: int, version: int, body: bytes) -> Hashable:
    """Two requests of an API and version with equal shapes ask for the same.

    Ids, epochs, times and limits do not count; topics, partitions, offsets and records do. The bytes
    themselves if they can't be read.

    >>> one, other = (bytes.fromhex(f"0001 67 {end}") for end in ("00000001 0001 6d", "00000002 0001 6e"))
    >>> shape(12, 0, one) == shape(12, 0, other)  # other generation, other member
    True
    """
    found = _read(key, version, body)
    if found is None:
        return body
    return json.dumps(without(to_json(unpacked(found)), OF_THE_CLIENT), sort_keys=True)


def about(key: int, version: int, body: bytes) -> Hashable:
    """The topics, partitions, groups and so on that a request names: equal if two are about the same."""
    found = _read(key, version, body)
    return body if found is None else frozenset(_names(to_json(found), ()))


def _read(key: int, version: int, body: bytes) -> dict[str, Any] | None:
    try:
        return api(key).request.codec(version).decode(body)
    except (LookupError, Malformed):
        return None


def _names(value: Any, path: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Each name with those of the structures around it: ("topics=a", "partitions=0")."""
    found: set[tuple[str, ...]] = set()
    match value:
        case list():
            for item in value:
                found |= _names(item, path)
        case dict():
            own = [
                f"{name}={value[name]}"
                for name in IDENTITY
                if isinstance(value.get(name), str | int)
            ]
            inner = (*path, *own)
            if own:
                found.add(inner)
            for child in value.values():
                found |= _names(child, inner)
    return found
