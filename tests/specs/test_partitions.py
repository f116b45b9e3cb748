"""Where messages name partitions: every 32-bit number that is one, and none that is something else."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.specs import NAMES, api
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout
from barnabas.specs.partitions import partition_places, partitions_in

OF_STREAMS = {
    ("StreamsGroupHeartbeat", "request"),
    ("StreamsGroupHeartbeat", "response"),
    ("StreamsGroupDescribe", "response"),
}
"""Tasks have the partitions of a subtopology, whose topics are elsewhere."""

OTHERS = frozenset(("num_partitions", "partition_epoch", "partition_max_bytes", "batch_index"))
"""Numbers that are about partitions, and are none."""

DIRECTIONS: tuple[Direction, ...] = ("request", "response")


def numbers(layout: Layout, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for slot in layout.slots:
        inner = slot.node.element or slot.node
        if inner.struct is not None:
            yield from numbers(inner.struct, (*path, slot.name))
        elif inner.kind == "int32":
            yield (*path, slot.name)


def test_all_numbers_that_are_called_so_are_found_and_are_below_a_topic() -> None:
    for key, name in NAMES.items():
        low, high = api(key).versions
        for version in range(low, high + 1):
            for direction in DIRECTIONS:
                places = partition_places(key, direction, version)
                assert all(place.name or place.id for place in places)
                ours = {(*place.topic, *place.below) for place in places}
                layout = api(key).message(direction).layout(version)
                for path in numbers(layout):
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
