"""Metadata of 0.8: brokers, topics and leaders.

There is no election: brokers that know the same live brokers compute the same leaders.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from barnabas.designs.brokers.listener import Address
from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION

Body = dict[str, Any]


def leader_of(partition: int, live: Collection[int], brokers: int) -> int:
    """Return the leader of a partition among live brokers, of which 1 to `brokers` should exist.

    Partitions are led in turn. Those of a dead broker are spread over the others, and no other partition
    moves. -1: no broker lives.

    >>> [leader_of(number, {1, 2, 3}, 3) for number in range(6)]
    [1, 2, 3, 1, 2, 3]
    >>> [leader_of(number, {2, 3}, 3) for number in range(6)]
    [2, 2, 3, 3, 2, 3]
    """
    if not live:
        return -1
    preferred = partition % brokers + 1
    if preferred in live:
        return preferred
    others = sorted(live)
    return others[partition // brokers % len(others)]


def metadata(
    body: Body, topics: Mapping[str, int], nodes: Mapping[int, Address], brokers: int
) -> Body:
    """Return a MetadataResponse, with all topics for an empty list, as in 0.8.

    brokers: the number of brokers that should exist.
    """

    def partition(number: int) -> Body:
        leader = leader_of(number, nodes, brokers)
        replicas = {"replica_nodes": [leader], "isr_nodes": [leader]}
        return {"error_code": 0, "partition_index": number, "leader_id": leader, **replicas}

    return {
        "brokers": [
            {"node_id": node, "host": host, "port": port}
            for node, (host, port) in sorted(nodes.items())
        ],
        "topics": [
            {
                "error_code": 0 if name in topics else UNKNOWN_TOPIC_OR_PARTITION,
                "name": name,
                "partitions": [partition(number) for number in range(topics.get(name, 0))],
            }
            for name in dict.fromkeys(topic["name"] for topic in body["topics"]) or sorted(topics)
        ],
    }
