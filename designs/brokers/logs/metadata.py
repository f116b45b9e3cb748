"""Metadata of 0.8: brokers, topics, and who leads a partition. Nobody elects that: all that know the same
brokers come to the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from barnabas.designs.brokers.listener import Address
from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION

Body = dict[str, Any]


def leader_of(partition: int, live: Collection[int], brokers: int) -> int:
    """The leader of a partition among live brokers, of which 1 to `brokers` are to be there.

    They lead in turn. Those of a broker that is gone are spread over the others, and no other one moves.
    -1: nobody lives.

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
    """The MetadataResponse: all topics for an empty list, as in 0.8. brokers: how many there are to be."""

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
            for name in dict.fromkeys(one["name"] for one in body["topics"]) or sorted(topics)
        ],
    }
