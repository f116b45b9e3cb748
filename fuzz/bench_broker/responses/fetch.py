"""Fetch, with fetch sessions (KIP-227), in which a request names only what changed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.request import (
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    Request,
    topic_key,
)

_SESSION_NOT_FOUND: Final = 70
_SESSIONLESS: Final = -1
_READ_COMMITTED: Final = 1

FetchPositions = dict[tuple[str | uuid.UUID, int], int]


def fetch(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the batches from each offset on."""
    body = request.body
    named: FetchPositions = {
        (topic_key(topic, "topic"), partition_row["partition"]): partition_row["fetch_offset"]
        for topic in body["topics"]
        for partition_row in topic["partitions"]
    }
    session, epoch = body.get("session_id", 0), body.get("session_epoch", _SESSIONLESS)
    incremental = session != 0 and epoch > 0
    if incremental and session not in cluster.fetching:
        return {"error_code": _SESSION_NOT_FOUND}
    if epoch == _SESSIONLESS:
        cluster.fetching.pop(session, None)
        return {"responses": _responses(cluster, request, named, everything=True)}
    if not incremental:
        cluster.fetching.pop(session, None)
        session = len(cluster.fetching) + 1
        cluster.fetching[session] = {}
    positions = cluster.fetching[session]
    positions.update(named)
    for topic in body["forgotten_topics_data"]:
        for partition in topic["partitions"]:
            positions.pop((topic_key(topic, "topic"), partition), None)
    responses = _responses(cluster, request, positions, everything=not incremental)
    return {"session_id": session, "responses": responses}


def read_from(request: Request) -> Iterator[tuple[int, int]]:
    """Yield the partitions and offsets of a request."""
    for topic in request.body["topics"]:
        for partition in topic["partitions"]:
            yield partition["partition"], partition["fetch_offset"]


def reads_committed(request: Request) -> bool:
    """Return whether a request has the isolation level read_committed."""
    return bool(request.body.get("isolation_level") == _READ_COMMITTED)


def empty(values: Mapping[str, Any]) -> bool:
    """Return whether a response has neither records nor errors, so that a broker would delay it."""
    return not values.get("error_code") and not any(
        partition["records"] or partition.get("error_code")
        for topic in values["responses"]
        for partition in topic["partitions"]
    )


def _responses(
    cluster: Cluster, request: Request, positions: FetchPositions, *, everything: bool
) -> list[dict[str, Any]]:
    magic = 0 if request.version < 2 else 1 if request.version < 4 else 2
    committed = reads_committed(request)
    topics: dict[str | uuid.UUID, list[dict[str, Any]]] = {}
    for (topic, partition), offset in positions.items():
        log = cluster.log(topic, partition)
        if log is None:
            by_id = isinstance(topic, uuid.UUID)
            entry: dict[str, Any] = {
                "error_code": UNKNOWN_TOPIC_ID if by_id else UNKNOWN_TOPIC_OR_PARTITION,
                "high_watermark": -1,
                "records": b"",
            }
        else:
            entry = {
                "error_code": 0,
                "high_watermark": log.end,
                "last_stable_offset": log.end,
                "log_start_offset": 0,
                "aborted_transactions": [
                    {"producer_id": producer, "first_offset": first}
                    for producer, first in (log.aborted if committed else ())
                ],
                "records": log.read(offset, magic),
            }
        if everything or entry["records"] or entry["error_code"]:
            topics.setdefault(topic, []).append({"partition_index": partition, **entry})
    return [
        {"topic_id" if isinstance(topic, uuid.UUID) else "topic": topic, "partitions": entries}
        for topic, entries in topics.items()
    ]
