"""Find the topics of an exchange by name, whether its messages have names or ids."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final

from barnabas.captures.kafka.context.body_fields import fields_of
from barnabas.captures.kafka.context.name_completion import complete, gaps
from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs.entities import entity_paths, named, values_at
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.registry import NAMES

_NONE: Final = uuid.UUID(int=0)


def topics_of(exchange: Exchange, names: Mapping[uuid.UUID, str]) -> set[str]:
    r"""Return the topics in both bodies. An id without a known name is formatted as Kafka prints it.

    An incremental Fetch lists only changed partitions, so the set may be empty.

    >>> topics_of(Exchange(0, 1, "", None, None, 3, 0, 0, 12, request_body=b"\0\0\0\1\0\1t"), {})
    {'t'}
    """
    topics: set[str] = set()
    if exchange.key in NAMES:
        for direction in DIRECTIONS:
            body = exchange.body(direction)
            if body is None:
                continue
            version = body_version(exchange.key, exchange.version, direction, body)
            topics |= _in(exchange.key, version, direction, body, names)
    return topics


def _in(
    key: int, version: int, direction: Direction, body: bytes, names: Mapping[uuid.UUID, str]
) -> set[str]:
    try:
        paths = entity_paths("topic", key, direction, version)
    except LookupError:  # an unknown version
        return set()
    ids = gaps(key, version, direction)
    paths_needed = [*paths, *((*structure.path, structure.id) for structure in ids)]
    values = paths_needed and fields_of(key, version, direction, body, *map(".".join, paths_needed))
    if not values:
        return set()
    topics = named("topic", key, direction, version, values)
    complete(values, key, version, direction, names)
    for structure in ids:
        for struct in values_at(values, structure.path):
            assert structure.name is not None  # noqa: S101
            if struct.get(structure.id, _NONE) != _NONE:
                topics.add(struct.get(structure.name) or uuid_text(struct[structure.id]))
    return topics
