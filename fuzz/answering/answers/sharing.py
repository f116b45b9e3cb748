"""ShareFetch and ShareAcknowledge (KIP-932): the one member is given each record once."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import UNKNOWN_TOPIC_ID, Ask
from barnabas.fuzz.answering.cluster import EPOCH, NODE, Cluster

_LOCK: Final = 30_000
"""Milliseconds that a record belongs to who was given it."""
_FIRST_EPOCH: Final = 0
_MAGIC: Final = 2


def share_fetch(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """All records at once, to the request that begins a session; what it acknowledges is taken."""
    begins = ask.body["share_session_epoch"] == _FIRST_EPOCH
    responses = []
    for topic in ask.body["topics"]:
        partitions = []
        for one in topic["partitions"]:
            index = one["partition_index"]
            log = cluster.log(topic["topic_id"], index)
            entry: dict[str, Any] = {"partition_index": index, "current_leader": _LEADER}
            if log is None:
                entry |= {"error_code": UNKNOWN_TOPIC_ID, "records": b"", "acquired_records": []}
            elif begins:
                whole = {"first_offset": 0, "last_offset": log.end - 1, "delivery_count": 1}
                entry |= {"records": log.read(0, _MAGIC), "acquired_records": [whole]}
            else:
                entry |= {"records": b"", "acquired_records": []}
            partitions.append(entry)
        responses.append({"topic_id": topic["topic_id"], "partitions": partitions})
    return {
        "acquisition_lock_timeout_ms": _LOCK,
        "responses": responses,
        "node_endpoints": [_here(cluster)],
    }


def share_acknowledge(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """Whatever it is, it is taken."""
    return {
        "acquisition_lock_timeout_ms": _LOCK,
        "responses": [
            {
                "topic_id": topic["topic_id"],
                "partitions": [
                    {"partition_index": one["partition_index"], "current_leader": _LEADER}
                    for one in topic["partitions"]
                ],
            }
            for topic in ask.body["topics"]
        ],
        "node_endpoints": [_here(cluster)],
    }


_LEADER: Final = {"leader_id": NODE, "leader_epoch": EPOCH}


def _here(cluster: Cluster) -> dict[str, Any]:
    return {"node_id": NODE, "host": cluster.host, "port": cluster.port, "rack": None}
