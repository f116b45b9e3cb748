"""Metadata, FindCoordinator, DescribeCluster: this broker is everything."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from barnabas.fuzz.answering.answers.ask import UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, Ask
from barnabas.fuzz.answering.cluster import CLUSTER_ID, EPOCH, NODE, TOPIC_ID, Cluster


def metadata(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """All topics, or those that were asked for."""
    asked = ask.body["topics"]
    everything = asked is None or (ask.version == 0 and not asked)
    topics = [{"name": cluster.topic}] if everything else asked
    return {
        "brokers": [{"node_id": NODE, "host": cluster.host, "port": cluster.port}],
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE,
        "topics": [_topic(cluster, one, ask) for one in topics],
        "cluster_authorized_operations": allowed(ask, "include_cluster_authorized_operations"),
    }


def allowed(ask: Ask, wish: str) -> int:
    """What the client may do, a bit each: describe and read, if it wants to know (KIP-430)."""
    return 1 << 8 | 1 << 3 if ask.body.get(wish) else -(2**31)


def _topic(cluster: Cluster, asked: Mapping[str, Any], ask: Ask) -> dict[str, Any]:
    name, topic_id = asked.get("name"), asked.get("topic_id", uuid.UUID(int=0))
    if name != cluster.topic and topic_id != TOPIC_ID:
        error = UNKNOWN_TOPIC_OR_PARTITION if name is not None else UNKNOWN_TOPIC_ID
        return {"error_code": error, "name": name, "topic_id": topic_id}
    return {
        "name": cluster.topic,
        "topic_id": TOPIC_ID,
        "topic_authorized_operations": allowed(ask, "include_topic_authorized_operations"),
        "partitions": [
            {
                "partition_index": i,
                "leader_id": NODE,
                "leader_epoch": EPOCH,
                "replica_nodes": [NODE],
                "isr_nodes": [NODE],
            }
            for i in range(len(cluster.logs))
        ],
    }


def find_coordinator(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """This broker, whatever is to be coordinated."""
    here = {"node_id": NODE, "host": cluster.host, "port": cluster.port}
    each = [
        {"key": key, "error_message": None, **here} for key in ask.body.get("coordinator_keys", ())
    ]
    return {**here, "coordinators": each}


def describe_cluster(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """One broker."""
    return {
        "endpoint_type": ask.body.get("endpoint_type", 1),
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE,
        "brokers": [{"broker_id": NODE, "host": cluster.host, "port": cluster.port}],
        "cluster_authorized_operations": allowed(ask, "include_cluster_authorized_operations"),
    }
