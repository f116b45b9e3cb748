"""OffsetCommit, TxnOffsetCommit, OffsetFetch: the committed offsets of groups."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.fuzz.bench_broker.cluster import Cluster, Group
from barnabas.fuzz.bench_broker.responses.request import Request, topic_key, topic_reference


def offset_commit(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Store offsets, also those of a transaction, without a wait for its end."""
    group = cluster.group(request.body["group_id"])
    topics = []
    for topic in request.body["topics"]:
        partitions = []
        for partition in topic["partitions"]:
            index = partition["partition_index"]
            topic_partition = _name(cluster, topic_key(topic)), index
            group.committed[topic_partition] = (
                partition["committed_offset"],
                partition["committed_metadata"],
            )
            partitions.append({"partition_index": index, "error_code": 0})
        topics.append({**topic_reference(topic), "partitions": partitions})
    return {"topics": topics}


def offset_fetch(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the offsets of the requested partitions, or of all; of several groups since v8."""
    if "groups" in request.body:
        return {
            "groups": [
                {
                    "group_id": requested["group_id"],
                    "topics": _committed(
                        cluster, cluster.group(requested["group_id"]), requested["topics"]
                    ),
                    "error_code": 0,
                }
                for requested in request.body["groups"]
            ]
        }
    group = cluster.group(request.body["group_id"])
    return {"topics": _committed(cluster, group, request.body["topics"])}


def _committed(
    cluster: Cluster, group: Group, requested: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    if requested is None:
        indexes = sorted(index for _, index in group.committed)
        topic_names = {"name": cluster.topic, "topic_id": cluster.topic_id}
        requested = [{**topic_names, "partition_indexes": indexes}] if indexes else []
    topics = []
    for topic in requested:
        name = _name(cluster, topic_key(topic))
        partitions = []
        for index in topic["partition_indexes"]:
            offset, metadata = group.committed.get((name, index), (-1, ""))
            partitions.append(
                {
                    "partition_index": index,
                    "committed_offset": offset,
                    "metadata": metadata,
                    "error_code": 0,
                }
            )
        topics.append({**topic, "partitions": partitions})
    return topics


def _name(cluster: Cluster, topic: str | uuid.UUID) -> str:
    return cluster.topic if topic == cluster.topic_id else str(topic)
