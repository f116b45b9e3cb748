"""What messages of an API, version and direction can contain."""

from __future__ import annotations

from barnabas.captures.kafka.context.id_names import TOPIC, id_fields_without_names
from barnabas.captures.kafka.errors import error_paths
from barnabas.specs import api
from barnabas.specs.dialects.keys import error_in_header
from barnabas.specs.entities import Entity, entity_paths, partition_places
from barnabas.specs.frames import Direction
from barnabas.specs.registry import name_of


def is_declared(key: int, version: int) -> bool:
    """Return whether an API and version is declared."""
    return name_of(key) is not None and api(key).versions[0] <= version <= api(key).versions[1]


def names_any(entity: Entity, key: int, direction: Direction, version: int) -> bool:
    """Return whether such a message, or the request that it answers, may name such an entity.

    >>> names_any("group", 12, "response", 1), names_any("topic", 12, "response", 1)
    (True, False)
    """
    directions: set[Direction] = {"request", direction}
    return is_declared(key, version) and any(
        entity_paths(entity, key, side, version)
        or (entity == "topic" and id_fields_without_names(key, version, side, TOPIC))
        for side in directions
    )


def has_partitions(key: int, direction: Direction, version: int) -> bool:
    """Return whether such a message, or the request that it answers, may name a partition.

    >>> has_partitions(8, "response", 9), has_partitions(12, "request", 1)
    (True, False)
    """
    directions: set[Direction] = {"request", direction}
    return is_declared(key, version) and any(
        partition_places(key, side, version) for side in directions
    )


def has_errors(key: int, direction: Direction, version: int) -> bool:
    """Return whether such a message has a field for an error code."""
    if direction == "request" or not is_declared(key, version):
        return False
    return error_in_header(key) or bool(error_paths(key, version))
