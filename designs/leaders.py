"""Leaders of partitions from Metadata v0, and bodies of requests and responses by partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar

Address = tuple[str, int]
"""Host and port."""

TopicPartition = tuple[str, int]
"""Topic and partition."""

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
LEADER_NOT_AVAILABLE: Final = 5
NOT_LEADER: Final = 6

STALE: Final = frozenset((UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, NOT_LEADER))
"""Error codes after which a client refreshes its metadata and repeats the request."""

Value = TypeVar("Value")


class Cluster(NamedTuple):
    """The content of a Metadata response. errors: of topics and of partitions."""

    brokers: dict[int, Address]
    leaders: dict[TopicPartition, int]
    errors: dict[TopicPartition | str, int]
    partitions: dict[str, int]
    """The number of partitions of each topic without an error."""


def metadata(topics: Iterable[str]) -> dict[str, Any]:
    """Build the body of a Metadata request; no topic means all. Brokers may create missing topics."""
    return {"topics": [{"name": topic} for topic in topics]}


def cluster(body: Mapping[str, Any]) -> Cluster:
    """Read a Metadata response. A partition whose leader is -1 has the error LeaderNotAvailable."""
    brokers = {broker["node_id"]: (broker["host"], broker["port"]) for broker in body["brokers"]}
    view = Cluster(brokers, {}, {}, {})
    for topic in body["topics"]:
        if topic["error_code"]:
            view.errors[topic["name"]] = topic["error_code"]
        elif topic["partitions"]:
            view.partitions[topic["name"]] = len(topic["partitions"])
    for partition, part in parts_in(body["topics"]):
        if part["error_code"]:
            view.errors[partition] = part["error_code"]
        if part["leader_id"] in brokers:
            view.leaders[partition] = part["leader_id"]
        else:
            view.errors.setdefault(partition, LEADER_NOT_AVAILABLE)
    return view


def by_leader(
    places: Iterable[TopicPartition], leaders: Mapping[TopicPartition, int]
) -> tuple[dict[int, list[TopicPartition]], list[TopicPartition]]:
    """Group partitions by the node id of their leader; return them and the leaderless ones.

    >>> by_leader([("a", 0), ("a", 1), ("b", 0)], {("a", 0): 1, ("b", 0): 1})
    ({1: [('a', 0), ('b', 0)]}, [('a', 1)])
    """
    led: dict[int, list[TopicPartition]] = {}
    leaderless: list[TopicPartition] = []
    for partition in places:
        (led.setdefault(leaders[partition], []) if partition in leaders else leaderless).append(
            partition
        )
    return led, leaderless


def by_topic(
    parts: Iterable[tuple[TopicPartition, Value]],
) -> Iterator[tuple[str, list[tuple[int, Value]]]]:
    """Group values of partitions by topic, since a request names each topic once.

    >>> dict(by_topic([(("a", 0), "x"), (("b", 0), "y"), (("a", 1), "z")]))
    {'a': [(0, 'x'), (1, 'z')], 'b': [(0, 'y')]}
    """
    gathered: dict[str, list[tuple[int, Value]]] = {}
    for (topic, partition), value in parts:
        gathered.setdefault(topic, []).append((partition, value))
    return iter(gathered.items())


def topics_with(
    parts: Mapping[TopicPartition, Value],
    part: Callable[[int, Value], Any],
    *,
    inner: str = "partitions",
    name: str = "name",
) -> list[dict[str, Any]]:
    """Build the topics of a request. name, inner: the topic's fields; part: makes an element of `inner`.

    >>> topics_with({("a", 0): 5, ("a", 1): 7}, lambda number, offset: {"at": (number, offset)})
    [{'name': 'a', 'partitions': [{'at': (0, 5)}, {'at': (1, 7)}]}]
    """
    return [
        {name: topic, inner: [part(number, value) for number, value in values]}
        for topic, values in by_topic(parts.items())
    ]


def parts_in(
    topics: Iterable[Mapping[str, Any]],
    *,
    inner: str = "partitions",
    name: str = "name",
    index: str = "partition_index",
) -> Iterator[tuple[TopicPartition, Mapping[str, Any]]]:
    """Yield each partition of a response's topics. name, inner, index: the fields that it has."""
    for topic in topics:
        for part in topic[inner]:
            yield (topic[name], part[index]), part
