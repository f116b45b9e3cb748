"""Metadata, FindCoordinator, DescribeCluster: all nodes have the address of this broker."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from barnabas.fuzz.bench_broker.cluster import CLUSTER_ID, EPOCH, NODE, Cluster
from barnabas.fuzz.bench_broker.responses.request import (
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    Request,
)


def metadata(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return all topics, or the requested ones."""
    requested = request.body["topics"]
    everything = requested is None or (request.version == 0 and not requested)
    topics = (
        [{"name": name} for name in (cluster.topic, *cluster.others)] if everything else requested
    )
    return {
        "brokers": cluster.nodes,
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE,
        "topics": [_topic(cluster, topic, request) for topic in topics],
        "cluster_authorized_operations": allowed(request, "include_cluster_authorized_operations"),
    }


def allowed(request: Request, wish: str) -> int:
    """Return the authorized operations, describe and read, if they are requested (KIP-430)."""
    return 1 << 8 | 1 << 3 if request.body.get(wish) else -(2**31)


def _topic(cluster: Cluster, requested: Mapping[str, Any], request: Request) -> dict[str, Any]:
    name, topic_id = requested.get("name"), requested.get("topic_id", uuid.UUID(int=0))
    known_name, known_id, partitions = cluster.partitions(name, topic_id)
    if not partitions:
        error = UNKNOWN_TOPIC_OR_PARTITION if name is not None else UNKNOWN_TOPIC_ID
        return {"error_code": error, "name": name, "topic_id": topic_id}
    epoch = cluster.next_epoch() if known_name == cluster.topic else EPOCH
    return {
        "name": known_name,
        "topic_id": known_id,
        "topic_authorized_operations": allowed(request, "include_topic_authorized_operations"),
        "partitions": [
            {
                "partition_index": i,
                "leader_id": cluster.leader,
                "leader_epoch": epoch,
                "replica_nodes": [cluster.leader],
                "isr_nodes": [cluster.leader],
            }
            for i in range(partitions)
        ],
    }


def find_coordinator(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the coordinator, which is the same for any key."""
    here = {"node_id": cluster.coordinator, "host": cluster.host, "port": cluster.port}
    each = [
        {"key": key, "error_message": None, **here}
        for key in request.body.get("coordinator_keys", ())
    ]
    return {**here, "coordinators": each}


def describe_cluster(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the nodes of the cluster."""
    return {
        "endpoint_type": request.body.get("endpoint_type", 1),
        "cluster_id": CLUSTER_ID,
        "controller_id": NODE,
        "brokers": [{**node, "broker_id": node["node_id"]} for node in cluster.nodes],
        "cluster_authorized_operations": allowed(request, "include_cluster_authorized_operations"),
    }
