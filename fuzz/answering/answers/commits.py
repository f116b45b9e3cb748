"""OffsetCommit, TxnOffsetCommit, OffsetFetch: what groups have committed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.fuzz.answering.answers.ask import Ask, named, which
from barnabas.fuzz.answering.cluster import TOPIC_ID, Cluster, Group


def offset_commit(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """Keep offsets; of a transaction as well, whose end nobody waits for here."""
    group = cluster.group(ask.body["group_id"])
    topics = []
    for topic in ask.body["topics"]:
        partitions = []
        for one in topic["partitions"]:
            index = one["partition_index"]
            place = _name(cluster, which(topic)), index
            group.committed[place] = one["committed_offset"], one["committed_metadata"]
            partitions.append({"partition_index": index, "error_code": 0})
        topics.append({**named(topic), "partitions": partitions})
    return {"topics": topics}


def offset_fetch(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """What was committed of the partitions asked for, or of all; several groups from v8 on."""
    if "groups" in ask.body:
        return {
            "groups": [
                {
                    "group_id": one["group_id"],
                    "topics": _committed(cluster, cluster.group(one["group_id"]), one["topics"]),
                    "error_code": 0,
                }
                for one in ask.body["groups"]
            ]
        }
    group = cluster.group(ask.body["group_id"])
    return {"topics": _committed(cluster, group, ask.body["topics"])}


def _committed(
    cluster: Cluster, group: Group, asked: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    if asked is None:
        indexes = sorted(index for _, index in group.committed)
        own = {"name": cluster.topic, "topic_id": TOPIC_ID}
        asked = [{**own, "partition_indexes": indexes}] if indexes else []
    topics = []
    for topic in asked:
        name = _name(cluster, which(topic))
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
    return cluster.topic if topic == TOPIC_ID else str(topic)
