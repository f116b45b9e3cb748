"""Where a message names topics, groups and transactional ids.

Kafka's definitions mark such fields (entityType). Their names follow a few customs, and so do these
rules; a test compares them with the definitions of all messages.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Final, Literal

from barnabas.specs.frames import Direction
from barnabas.specs.layout import LocatedSlot
from barnabas.specs.registry import api

Entity = Literal["topic", "group", "transactional_id"]
"""What is named."""

NAMES: Final[dict[Entity, frozenset[str]]] = {
    "topic": frozenset(("topic", "topic_name", "topic_names", "subscribed_topic_names")),
    "group": frozenset(("group_id", "group_ids", "groups_names")),
    "transactional_id": frozenset(
        ("transactional_id", "transactional_ids", "v3_and_below_transactional_id")
    ),
}
"""Fields that name such a thing wherever they stand."""

OF_TOPICS: Final = frozenset(
    (
        "topics",
        "topic_data",
        "topic_results",
        "v3_and_below_topics",
        "results_by_topic_v3_and_below",
    )
)
"""Arrays whose elements' `name` is a topic's."""

RESPONSES_OF_TOPICS: Final = {0: "responses", 20: "responses", 37: "results", 45: "responses"}
"""API key -> an array of its response whose elements' `name` is a topic's."""


@functools.cache
def entity_paths(
    entity: Entity, key: int, direction: Direction, version: int
) -> tuple[tuple[str, ...], ...]:
    """The fields that name such things, each as the names of the fields that lead to it.

    >>> entity_paths("topic", 1, "request", 11)
    (('topics', 'topic'), ('forgotten_topics_data', 'topic'))
    """
    layout = api(key).message(direction).layout(version)
    return tuple(each.path for each in layout.walk() if _names(entity, key, each))


def named(entity: Entity, key: int, direction: Direction, version: int, values: Any) -> set[str]:
    """What a decoded body names.

    >>> sorted(named("group", 42, "request", 0, {"groups_names": ["a", "b"]}))
    ['a', 'b']
    """
    found: set[str] = set()
    for path in entity_paths(entity, key, direction, version):
        found.update(values_at(values, path))
    return found


def _names(entity: Entity, key: int, located: LocatedSlot) -> bool:
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
    """What stands at a path in decoded values, in every element of the arrays on it; nulls are left out.

    >>> values_at({"topics": [{"name": "a"}, {"name": None}]}, ("topics", "name"))
    ['a']
    """
    found = _elements([value])
    for name in path:
        found = _elements([each.get(name) for each in found if isinstance(each, dict)])
    return found


def _elements(values: list[Any]) -> list[Any]:
    """The values that are no arrays, and the elements of those that are; nulls are left out."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, list):
            found += _elements(value)
        elif value is not None:
            found.append(value)
    return found
