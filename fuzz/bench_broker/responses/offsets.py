"""ListOffsets and OffsetForLeaderEpoch: the beginning and end of partitions."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import TIME, Cluster
from barnabas.fuzz.bench_broker.responses.request import UNKNOWN_TOPIC_OR_PARTITION, Request

_EARLIEST: Final = frozenset((-2, -4))
"""Timestamps for the beginning; -4 for the local log (KIP-405)."""


def list_offsets(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the beginning, the first offset of a time, or the end."""
    topics = []
    for topic in request.body["topics"]:
        partitions = []
        for partition in topic["partitions"]:
            index, timestamp = partition["partition_index"], partition["timestamp"]
            log = cluster.log(topic["name"], index)
            if log is None:
                partitions.append(
                    {"partition_index": index, "error_code": UNKNOWN_TOPIC_OR_PARTITION}
                )
                continue
            first = timestamp in _EARLIEST or 0 <= timestamp <= TIME
            offset = 0 if first else log.end
            partitions.append(
                {
                    "partition_index": index,
                    "old_style_offsets": [offset],
                    "timestamp": TIME if timestamp >= 0 and first else -1,
                    "offset": offset,
                    "leader_epoch": cluster.epoch,
                }
            )
        topics.append({"name": topic["name"], "partitions": partitions})
    return {"topics": topics}


def offset_for_leader_epoch(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the end of each log, as if it had only one leader epoch."""
    topics = []
    for topic in request.body["topics"]:
        partitions = []
        for partition in topic["partitions"]:
            log = cluster.log(topic["topic"], partition["partition"])
            epoch_end = {"leader_epoch": cluster.epoch, "end_offset": log.end} if log else {}
            error = 0 if log else UNKNOWN_TOPIC_OR_PARTITION
            partitions.append(
                {"error_code": error, "partition": partition["partition"], **epoch_end}
            )
        topics.append({"topic": topic["topic"], "partitions": partitions})
    return {"topics": topics}
