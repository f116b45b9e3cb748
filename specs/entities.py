"""Where a message names topics, groups, transactional ids and partitions.

Kafka's definitions mark the names (entityType). The fields' names follow a few conventions, and so do the
rules here; a test compares them with the definitions of all messages. A partition's index is in the structure
that names its topic, by name or id, or in a structure below it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from barnabas.specs.frames import Direction
from barnabas.specs.keys import (
    ALTER_PARTITION_REASSIGNMENTS,
    CREATE_PARTITIONS,
    DELETE_TOPICS,
    FIND_COORDINATOR,
    PRODUCE,
)
from barnabas.specs.layout import Layout, LocatedSlot, Slot
from barnabas.specs.registry import api

Entity = Literal["topic", "group", "transactional_id"]
"""The kind of thing that a field names."""

NAMES: Final[dict[Entity, frozenset[str]]] = {
    "topic": frozenset(("topic", "topic_name", "topic_names", "subscribed_topic_names")),
    "group": frozenset(("group_id", "group_ids", "groups_names")),
    "transactional_id": frozenset(
        ("transactional_id", "transactional_ids", "v3_and_below_transactional_id")
    ),
}
"""Names of fields that name such a thing in every message."""

OF_TOPICS: Final = frozenset(
    (
        "topics",
        "topic_data",
        "topic_results",
        "v3_and_below_topics",
        "results_by_topic_v3_and_below",
    )
)
"""Arrays of structures whose field `name` is a topic's name."""

RESPONSES_OF_TOPICS: Final = {
    PRODUCE: "responses",
    DELETE_TOPICS: "responses",
    CREATE_PARTITIONS: "results",
    ALTER_PARTITION_REASSIGNMENTS: "responses",
}
"""API key -> an array of its response whose structures' field `name` is a topic's name."""


@functools.cache
def entity_paths(
    entity: Entity, key: int, direction: Direction, version: int
) -> tuple[tuple[str, ...], ...]:
    """Return the paths of the fields that name such things, each as a tuple of field names.

    >>> entity_paths("topic", 1, "request", 11)
    (('topics', 'topic'), ('forgotten_topics_data', 'topic'))
    """
    layout = api(key).message(direction).layout(version)
    return tuple(each.path for each in layout.walk() if _is_name_of(entity, key, each))


def named(entity: Entity, key: int, direction: Direction, version: int, values: Any) -> set[str]:
    """Return the names of such things in a decoded body.

    >>> sorted(named("group", 42, "request", 0, {"groups_names": ["a", "b"]}))
    ['a', 'b']
    """
    entity_names: set[str] = set()
    for path in entity_paths(entity, key, direction, version):
        entity_names.update(values_at(values, path))
    return entity_names


def _is_name_of(entity: Entity, key: int, located: LocatedSlot) -> bool:
    (*above, name), node = located.path, located.slot.node
    if node.inner.kind != "string":
        return False
    if name in NAMES[entity]:
        return True
    if entity == "group":
        return name == "groups" and node.kind == "array"
    if entity == "topic" and name == "name" and above:
        return above[-1] in OF_TOPICS or above == [RESPONSES_OF_TOPICS.get(key)]
    return False


def values_at(value: Any, path: Iterable[str]) -> list[Any]:
    """Return the values at a path, in every element of the arrays on the path, without nulls.

    >>> values_at({"topics": [{"name": "a"}, {"name": None}]}, ("topics", "name"))
    ['a']
    """
    values = _elements([value])
    for name in path:
        values = _elements([each.get(name) for each in values if isinstance(each, dict)])
    return values


def _elements(values: list[Any]) -> list[Any]:
    """Return the values, with arrays replaced by their elements, without nulls."""
    elements: list[Any] = []
    for value in values:
        if isinstance(value, list):
            elements += _elements(value)
        elif value is not None:
            elements.append(value)
    return elements


ID: Final = "topic_id"

SINGLE: Final = frozenset(("partition", "partition_index", "partition_id", "index"))
"""Fields with one partition index."""

SEVERAL: Final = frozenset(("partitions", "partition_indexes"))
"""Arrays of partition indexes."""


class Indexes(NamedTuple):
    """The location of partition indexes below a structure that is about one topic."""

    topic: tuple[str, ...]
    """The fields that lead to that structure."""
    name: str | None
    """The field of the structure with the topic's name, if it has one."""
    id: str | None
    """The field of the structure with the topic's id, if it has one."""
    below: tuple[str, ...]
    """The fields that lead from the structure to the index, or to the array of indexes."""

    @property
    def paths(self) -> list[str]:
        """Return the dotted paths of the fields to decode."""
        ends = ((self.name,), (self.id,), self.below)
        return [".".join((*self.topic, *end)) for end in ends if end[0] is not None]


@functools.cache
def partition_places(key: int, direction: Direction, version: int) -> tuple[Indexes, ...]:
    """Return the locations of partition indexes in a version of a message.

    >>> partition_places(8, "request", 9)
    (Indexes(topic=('topics',), name='name', id=None, below=('partitions', 'partition_index')),)
    >>> [place.below for place in partition_places(9, "request", 1)]
    [('partition_indexes',)]
    """
    named = frozenset(entity_paths("topic", key, direction, version))
    return tuple(_index_locations(api(key).message(direction).layout(version), (), named))


def partitions_in(
    places: tuple[Indexes, ...], values: Any
) -> Iterator[tuple[str | None, Any, int]]:
    """Yield (topic name, topic id, index) for each partition index in a decoded body.

    A missing name or id is None.

    >>> body = {"topics": [{"name": "t", "partitions": [{"partition_index": 3}]}]}
    >>> list(partitions_in(partition_places(8, "request", 9), body))
    [('t', None, 3)]
    """
    for location in places:
        for topic_struct in values_at(values, location.topic):
            name = None if location.name is None else topic_struct.get(location.name)
            topic = None if location.id is None else topic_struct.get(location.id)
            for index in values_at(topic_struct, location.below):
                yield name, topic, index


def _index_locations(
    layout: Layout, path: tuple[str, ...], named: frozenset[tuple[str, ...]]
) -> Iterator[Indexes]:
    scalars = [slot.name for slot in layout.slots if slot.node.kind not in ("array", "struct")]
    name = next((scalar for scalar in scalars if (*path, scalar) in named), None)
    topic = ID if ID in scalars else None
    if path and (name or topic):
        for each in layout.walk():
            if _is_index(each.slot):
                yield Indexes(path, name, topic, each.path)
        return
    for slot in layout.slots:
        inner = slot.node.inner.struct
        if inner is not None:
            yield from _index_locations(inner, (*path, slot.name), named)


def _is_index(slot: Slot) -> bool:
    names = SINGLE if slot.node.element is None else SEVERAL
    return slot.node.inner.kind == "int32" and slot.name in names


FieldEntity = Literal[
    "topic",
    "topic_id",
    "partition",
    "group",
    "transactional_id",
    "producer_id",
    "member",
    "instance",
    "resource",
    "resource_type",
    "config",
    "principal",
    "coordinator",
    "records",
]
"""The kind of thing that a field identifies; `coordinator` is a group or a transactional id, by `key_type`;
`records` are of a producer."""

_BY_NAME: Final[Mapping[str, FieldEntity]] = {
    ID: "topic_id",
    "producer_id": "producer_id",
    "v3_and_below_producer_id": "producer_id",
    "member_id": "member",
    "group_instance_id": "instance",
    "instance_id": "instance",
    "resource_name": "resource",
    "resource_name_filter": "resource",
    "resource_type": "resource_type",
    "resource_type_filter": "resource_type",
    "config_name": "config",
    "configuration_keys": "config",
    "principal": "principal",
    "principal_filter": "principal",
    "records": "records",
}
"""Names of fields that identify such a thing in every message."""

CONFIGS: Final = "configs"
"""An array of structures whose field `name` is a config's name."""


@functools.cache
def entity_fields(
    key: int, direction: Direction, version: int
) -> Mapping[tuple[str, ...], FieldEntity]:
    """Return the fields that identify something, by their path.

    >>> entity_fields(8, "response", 8)
    {('topics', 'name'): 'topic', ('topics', 'partitions', 'partition_index'): 'partition'}
    """
    by_path: dict[tuple[str, ...], FieldEntity] = {}
    indexes = {(*each.topic, *each.below) for each in partition_places(key, direction, version)}
    for located in api(key).message(direction).layout(version).walk():
        path = located.path
        if path in indexes:
            by_path[path] = "partition"
        elif key == FIND_COORDINATOR and path[-1] in ("key", "coordinator_keys"):
            by_path[path] = "coordinator"
        elif path[-2:] == (CONFIGS, "name"):
            by_path[path] = "config"
        elif path[-1] in _BY_NAME:
            by_path[path] = _BY_NAME[path[-1]]
        else:
            entity = next((each for each in NAMES if _is_name_of(each, key, located)), None)
            if entity is not None:
                by_path[path] = entity
    return by_path
