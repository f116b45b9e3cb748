"""ListOffsets and OffsetForLeaderEpoch: where partitions begin and end."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import UNKNOWN_TOPIC_OR_PARTITION, Ask
from barnabas.fuzz.answering.cluster import EPOCH, TIME, Cluster

_EARLIEST: Final = frozenset((-2, -4))
"""Timestamps that ask for the beginning; -4: of what is kept here (KIP-405)."""


def list_offsets(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """The beginning, the first offset of a time, or the end."""
    topics = []
    for topic in ask.body["topics"]:
        partitions = []
        for one in topic["partitions"]:
            index, wanted = one["partition_index"], one["timestamp"]
            log = cluster.log(topic["name"], index)
            if log is None:
                partitions.append(
                    {"partition_index": index, "error_code": UNKNOWN_TOPIC_OR_PARTITION}
                )
                continue
            first = wanted in _EARLIEST or 0 <= wanted <= TIME
            offset = 0 if first else log.end
            partitions.append(
                {
                    "partition_index": index,
                    "old_style_offsets": [offset],
                    "timestamp": TIME if wanted >= 0 and first else -1,
                    "offset": offset,
                    "leader_epoch": EPOCH,
                }
            )
        topics.append({"name": topic["name"], "partitions": partitions})
    return {"topics": topics}


def offset_for_leader_epoch(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """The end of each log: there was never another epoch."""
    topics = []
    for topic in ask.body["topics"]:
        partitions = []
        for one in topic["partitions"]:
            log = cluster.log(topic["topic"], one["partition"])
            known = {"leader_epoch": EPOCH, "end_offset": log.end} if log else {}
            error = 0 if log else UNKNOWN_TOPIC_OR_PARTITION
            partitions.append({"error_code": error, "partition": one["partition"], **known})
        topics.append({"topic": topic["topic"], "partitions": partitions})
    return {"topics": topics}
