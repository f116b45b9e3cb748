"""Partition leaders from Metadata v0, which all brokers since 0.8 answer, and requests split by leader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

Address = tuple[str, int]
"""Host and port."""

Place = tuple[str, int]
"""Topic and partition."""

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
LEADER_NOT_AVAILABLE: Final = 5
NOT_LEADER: Final = 6

STALE: Final = frozenset((UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER))
"""Codes after which other metadata may help: the same is asked again of whoever leads then."""


class Cluster(NamedTuple):
    """What Metadata says. errors: of topics and of partitions, those without one left out."""

    brokers: dict[int, Address]
    leaders: dict[Place, int]
    errors: dict[Place | str, int]
    partitions: dict[str, int]
    """How many each topic has; those with an error are not there."""


def metadata(topics: Iterable[str]) -> dict[str, Any]:
    """The body of a Metadata request; no topic means all of them. Brokers may make what they lack."""
    return {"topics": [{"name": topic} for topic in topics]}


def cluster(body: Mapping[str, Any]) -> Cluster:
    """What a Metadata response says. A partition whose leader is -1 has none (LeaderNotAvailable)."""
    found = Cluster(
        {one["node_id"]: (one["host"], one["port"]) for one in body["brokers"]}, {}, {}, {}
    )
    for topic in body["topics"]:
        if topic["error_code"]:
            found.errors[topic["name"]] = topic["error_code"]
        elif topic["partitions"]:
            found.partitions[topic["name"]] = len(topic["partitions"])
        for part in topic["partitions"]:
            place = topic["name"], part["partition_index"]
            if part["error_code"]:
                found.errors[place] = part["error_code"]
            if part["leader_id"] in found.brokers:
                found.leaders[place] = part["leader_id"]
            else:
                found.errors.setdefault(place, LEADER_NOT_AVAILABLE)
    return found


def by_leader(
    places: Iterable[Place], leaders: Mapping[Place, int]
) -> tuple[dict[int, list[Place]], list[Place]]:
    """Places by the node id of their leader, and those that nobody leads.

    >>> by_leader([("a", 0), ("a", 1), ("b", 0)], {("a", 0): 1, ("b", 0): 1})
    ({1: [('a', 0), ('b', 0)]}, [('a', 1)])
    """
    led: dict[int, list[Place]] = {}
    lost = []
    for place in places:
        if place in leaders:
            led.setdefault(leaders[place], []).append(place)
        else:
            lost.append(place)
    return led, lost


def by_topic(parts: Iterable[tuple[Place, Any]]) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    """What belongs to partitions, gathered by topic, since a request names each topic once.

    >>> dict(by_topic([(("a", 0), "x"), (("b", 0), "y"), (("a", 1), "z")]))
    {'a': [(0, 'x'), (1, 'z')], 'b': [(0, 'y')]}
    """
    gathered: dict[str, list[tuple[int, Any]]] = {}
    for (topic, partition), what in parts:
        gathered.setdefault(topic, []).append((partition, what))
    return iter(gathered.items())
