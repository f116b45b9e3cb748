"""Where a message says which partition of which topic: found in the layouts, so none is listed here.

A partition's index stands in the structure that names its topic, by name or id, or somewhere below it,
by one of a few names that Kafka's messages have for it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.specs.entities import entity_paths, values_at
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout, Slot
from barnabas.specs.registry import api

ID: Final = "topic_id"

SINGLE: Final = frozenset(("partition", "partition_index", "partition_id", "index"))
"""Fields that hold an index, ..."""

SEVERAL: Final = frozenset(("partitions", "partition_indexes"))
"""... and arrays of them."""


class Indexes(NamedTuple):
    """Where indexes stand below a structure that is about one topic."""

    topic: tuple[str, ...]
    """The fields that lead to that structure."""
    name: str | None
    """The field there with the topic's name, ..."""
    id: str | None
    """... or with its id, or both."""
    below: tuple[str, ...]
    """The fields that lead on to the index, or to the array of them."""

    @property
    def paths(self) -> list[str]:
        """The fields to decode, with dots."""
        ends = ((self.name,), (self.id,), self.below)
        return [".".join((*self.topic, *end)) for end in ends if end[0] is not None]


@functools.cache
def partition_places(key: int, direction: Direction, version: int) -> tuple[Indexes, ...]:
    """Where such a message has indexes of partitions.

    >>> partition_places(8, "request", 9)
    (Indexes(topic=('topics',), name='name', id=None, below=('partitions', 'partition_index')),)
    >>> [place.below for place in partition_places(9, "request", 1)]
    [('partition_indexes',)]
    """
    named = frozenset(entity_paths("topic", key, direction, version))
    return tuple(_places(api(key).message(direction).layout(version), (), named))


def partitions_in(
    places: tuple[Indexes, ...], values: Any
) -> Iterator[tuple[str | None, Any, int]]:
    """Each index in a decoded body: (the topic's name, its id, index), what is not there None.

    >>> body = {"topics": [{"name": "t", "partitions": [{"partition_index": 3}]}]}
    >>> list(partitions_in(partition_places(8, "request", 9), body))
    [('t', None, 3)]
    """
    for place in places:
        for about in values_at(values, place.topic):
            name = None if place.name is None else about.get(place.name)
            topic = None if place.id is None else about.get(place.id)
            for index in values_at(about, place.below):
                yield name, topic, index


def _places(
    layout: Layout, path: tuple[str, ...], named: frozenset[tuple[str, ...]]
) -> Iterator[Indexes]:
    scalars = [slot.name for slot in layout.slots if slot.node.kind not in ("array", "struct")]
    name = next((one for one in scalars if (*path, one) in named), None)
    topic = ID if ID in scalars else None
    if path and (name or topic):
        for each in layout.walk():
            if _is_index(each.slot):
                yield Indexes(path, name, topic, each.path)
        return
    for slot in layout.slots:
        inner = slot.node.inner.struct
        if inner is not None:
            yield from _places(inner, (*path, slot.name), named)


def _is_index(slot: Slot) -> bool:
    names = SINGLE if slot.node.element is None else SEVERAL
    return slot.node.inner.kind == "int32" and slot.name in names
