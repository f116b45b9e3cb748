"""Which topics an exchange is about, by name, whether it says names or ids."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final

from barnabas.captures.kafka.context.completing import complete, gaps
from barnabas.captures.kafka.context.reading import fields_of
from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs.entities import entity_paths, named, values_at
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.registry import NAMES

_NONE: Final = uuid.UUID(int=0)


def topics_of(exchange: Exchange, names: Mapping[uuid.UUID, str]) -> set[str]:
    """The topics that either body names. An id without a known name is given as Kafka prints it.

    An incremental Fetch names only what changed, so this may be none.

    >>> topics_of(Exchange(0, 1, "", None, None, 3, 0, 0, 12, request_body=b"\\0\\0\\0\\1\\0\\1t"), {})
    {'t'}
    """
    found: set[str] = set()
    if exchange.key in NAMES:
        for direction in DIRECTIONS:
            body = exchange.body(direction)
            if body is None:
                continue
            version = body_version(exchange.key, exchange.version, direction, body)
            found |= _in(exchange.key, version, direction, body, names)
    return found


def _in(
    key: int, version: int, direction: Direction, body: bytes, names: Mapping[uuid.UUID, str]
) -> set[str]:
    try:
        paths = entity_paths("topic", key, direction, version)
    except LookupError:  # a version that nobody knows
        return set()
    ids = gaps(key, version, direction)
    wanted = [*paths, *((*place.path, place.id) for place in ids)]
    values = wanted and fields_of(key, version, direction, body, *map(".".join, wanted))
    if not values:
        return set()
    found = named("topic", key, direction, version, values)
    complete(values, key, version, direction, names)
    for place in ids:
        for struct in values_at(values, place.path):
            assert place.name is not None  # noqa: S101
            if struct.get(place.id, _NONE) != _NONE:
                found.add(struct.get(place.name) or uuid_text(struct[place.id]))
    return found
