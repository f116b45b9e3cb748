"""The fields that name topics, groups and transactional ids, beside Kafka's own marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from barnabas.specs import NAMES, api
from barnabas.specs.entities import (
    Entity,
    entity_fields,
    entity_paths,
    partition_places,
    partitions_in,
)
from barnabas.specs.frames import Direction
from tests.golden.definitions import newest

TYPES: Final[dict[Entity, str]] = {
    "topic": "topicName",
    "group": "groupId",
    "transactional_id": "transactionalId",
}
STREAMS: Final = re.compile(r"topology(_description)?\.|partitions_by_user_endpoint")
"""Topics inside the topology of a Streams application are parts of its plan, not what is asked for."""

UNMARKED: Final = range(83, 88)
"""The share group state APIs, whose group_id Kafka does not mark."""

GROUPS: Final = ("group", "request")


def marked(kind: str, definition: dict[str, Any]) -> Iterator[str]:
    """Paths of the fields with this entityType."""
    shared = {struct["name"]: struct["fields"] for struct in definition.get("commonStructs", [])}

    def walk(fields: list[dict[str, Any]], prefix: str) -> Iterator[str]:
        for field in fields:
            path = prefix + re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", field["name"]).lower()
            if field.get("entityType") == kind:
                yield path
            inner = field.get("fields") or shared.get(field["type"].replace("[]", ""), [])
            yield from walk(inner, path + ".")

    return walk(definition.get("fields", []), "")


@pytest.mark.parametrize("entity", TYPES)
@pytest.mark.parametrize("direction", ["request", "response"])
def test_they_are_those_that_kafka_marks(entity: Entity, direction: Direction) -> None:
    for key in NAMES:
        theirs = {
            path
            for _, definition in newest(key, direction)
            for path in marked(TYPES[entity], definition)
            if not STREAMS.search(path)
        }
        low, high = api(key).versions
        for version in range(low, high + 1):
            layout = api(key).message(direction).layout(version)
            ours = {".".join(path) for path in entity_paths(entity, key, direction, version)}
            ours = {path for path in ours if not STREAMS.search(path)}
            here = {path for path in theirs if layout.find(path)}
            assert here <= ours, (NAMES[key], version)
            more = {"group_id"} if key in UNMARKED and (entity, direction) == GROUPS else set()
            assert ours - here == more, (NAMES[key], version)


OF_STREAMS = {
    ("StreamsGroupHeartbeat", "request"),
    ("StreamsGroupHeartbeat", "response"),
    ("StreamsGroupDescribe", "response"),
}


"""Tasks have the partitions of a subtopology, whose topics are elsewhere."""


OTHERS = frozenset(("num_partitions", "partition_epoch", "partition_max_bytes", "batch_index"))


"""Numbers that are about partitions, and are none."""


DIRECTIONS: tuple[Direction, ...] = ("request", "response")


def test_all_numbers_that_are_called_so_are_found_and_are_below_a_topic() -> None:
    for key, name in NAMES.items():
        low, high = api(key).versions
        for version in range(low, high + 1):
            for direction in DIRECTIONS:
                places = partition_places(key, direction, version)
                assert all(place.name or place.id for place in places)
                ours = {(*place.topic, *place.below) for place in places}
                layout = api(key).message(direction).layout(version)
                for path, slot, _ in layout.walk():
                    if slot.node.inner.kind != "int32":
                        continue
                    called = "partition" in path[-1] or path[-1].endswith("index")
                    expected = called and not (
                        path[-1] in OTHERS
                        or path[-1] == "response_partition_limit"
                        or ((name, direction) in OF_STREAMS and path not in ours)
                    )
                    assert (path in ours) is expected, (name, version, direction, path)


def test_a_partition_belongs_to_its_own_topic() -> None:
    places = partition_places(24, "request", 3)
    topics = [{"name": "a", "partitions": [0, 2]}, {"name": "b", "partitions": [1]}]
    found = list(partitions_in(places, {"v3_and_below_topics": topics}))
    assert found == [("a", None, 0), ("a", None, 2), ("b", None, 1)]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_producer_ids_are_those_that_kafka_marks(direction: Direction) -> None:
    for key in NAMES:
        theirs = {
            path
            for _, definition in newest(key, direction)
            for path in marked("producerId", definition)
        }
        low, high = api(key).versions
        for version in range(low, high + 1):
            layout = api(key).message(direction).layout(version)
            fields = entity_fields(key, direction, version).items()
            ours = {".".join(path) for path, kind in fields if kind == "producer_id"}
            here = {path for path in theirs if layout.find(path)} - OTHER_PRODUCERS
            assert here <= ours, (NAMES[key], version)


OTHER_PRODUCERS = frozenset(("ongoing_txn_producer_id", "producer_id_start", "producer_id_filters"))
"""The producer of a prepared transaction, the first id of a block, and ids in a filter."""


def test_fields_are_of_the_kinds_that_the_other_functions_find() -> None:
    entities: tuple[Entity, ...] = ("topic", "group", "transactional_id")
    for key in NAMES:
        low, high = api(key).versions
        for version in range(low, high + 1):
            for direction in DIRECTIONS:
                fields = entity_fields(key, direction, version)
                for entity in entities:
                    paths = {path for path, kind in fields.items() if kind == entity}
                    assert paths == {*entity_paths(entity, key, direction, version)}
                indexes = {path for path, kind in fields.items() if kind == "partition"}
                places = partition_places(key, direction, version)
                assert indexes == {(*place.topic, *place.below) for place in places}
