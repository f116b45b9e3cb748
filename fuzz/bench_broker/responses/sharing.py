"""ShareFetch and ShareAcknowledge (KIP-932): the one member gets each record once."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import EPOCH, NODE, Cluster
from barnabas.fuzz.bench_broker.responses.request import UNKNOWN_TOPIC_ID, Request

_LOCK: Final = 30_000
"""Milliseconds that a record is locked for its member."""
_FIRST_EPOCH: Final = 0
_MAGIC: Final = 2


def share_fetch(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return all records to the request that begins a session; acknowledgements are accepted."""
    begins = request.body["share_session_epoch"] == _FIRST_EPOCH
    responses = []
    for topic in request.body["topics"]:
        partitions = []
        for partition in topic["partitions"]:
            index = partition["partition_index"]
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


def share_acknowledge(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Accept every acknowledgement."""
    return {
        "acquisition_lock_timeout_ms": _LOCK,
        "responses": [
            {
                "topic_id": topic["topic_id"],
                "partitions": [
                    {"partition_index": partition["partition_index"], "current_leader": _LEADER}
                    for partition in topic["partitions"]
                ],
            }
            for topic in request.body["topics"]
        ],
        "node_endpoints": [_here(cluster)],
    }


_LEADER: Final = {"leader_id": NODE, "leader_epoch": EPOCH}


def _here(cluster: Cluster) -> dict[str, Any]:
    return {"node_id": NODE, "host": cluster.host, "port": cluster.port, "rack": None}
