"""What messages of an API, version and direction can hold."""

from __future__ import annotations

from barnabas.captures.kafka.context.id_names import TOPIC, places_without_names
from barnabas.captures.kafka.errors import error_paths
from barnabas.specs import api
from barnabas.specs.dialects.keys import error_in_header
from barnabas.specs.entities import Entity, entity_paths, partition_places
from barnabas.specs.frames import Direction
from barnabas.specs.registry import name_of


def known(key: int, version: int) -> bool:
    """Whether an API and version is declared."""
    return name_of(key) is not None and api(key).versions[0] <= version <= api(key).versions[1]


def names_any(entity: Entity, key: int, direction: Direction, version: int) -> bool:
    """Whether such a message may name such a thing, or the request that it answers.

    >>> names_any("group", 12, "response", 1), names_any("topic", 12, "response", 1)
    (True, False)
    """
    ways: set[Direction] = {"request", direction}
    return known(key, version) and any(
        entity_paths(entity, key, way, version)
        or (entity == "topic" and places_without_names(key, version, way, TOPIC))
        for way in ways
    )


def has_partitions(key: int, direction: Direction, version: int) -> bool:
    """Whether such a message may name a partition, or the request that it answers.

    >>> has_partitions(8, "response", 9), has_partitions(12, "request", 1)
    (True, False)
    """
    ways: set[Direction] = {"request", direction}
    return known(key, version) and any(partition_places(key, way, version) for way in ways)


def has_errors(key: int, direction: Direction, version: int) -> bool:
    """Whether there is room for an error code in such a message."""
    if direction == "request" or not known(key, version):
        return False
    return error_in_header(key) or bool(error_paths(key, version))
