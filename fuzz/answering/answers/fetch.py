"""Fetch, with sessions (KIP-227): a request that goes on with one names only what changed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import (
    UNKNOWN_TOPIC_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    Ask,
    which,
)
from barnabas.fuzz.answering.cluster import Cluster

_SESSION_NOT_FOUND: Final = 70
_SESSIONLESS: Final = -1

Wanted = dict[tuple[str | uuid.UUID, int], int]


def fetch(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """The batches from each offset on."""
    body = ask.body
    named: Wanted = {
        (which(topic, "topic"), one["partition"]): one["fetch_offset"]
        for topic in body["topics"]
        for one in topic["partitions"]
    }
    session, epoch = body.get("session_id", 0), body.get("session_epoch", _SESSIONLESS)
    incremental = session != 0 and epoch > 0
    if incremental and session not in cluster.fetching:
        return {"error_code": _SESSION_NOT_FOUND}
    if epoch == _SESSIONLESS:
        cluster.fetching.pop(session, None)
        return {"responses": _responses(cluster, ask.version, named, everything=True)}
    if not incremental:
        cluster.fetching.pop(session, None)
        session = len(cluster.fetching) + 1
        cluster.fetching[session] = {}
    wanted = cluster.fetching[session]
    wanted.update(named)
    for topic in body["forgotten_topics_data"]:
        for partition in topic["partitions"]:
            wanted.pop((which(topic, "topic"), partition), None)
    found = _responses(cluster, ask.version, wanted, everything=not incremental)
    return {"session_id": session, "responses": found}


def read_from(ask: Ask) -> Iterator[tuple[int, int]]:
    """The partitions that a request names, and from where it wants them."""
    for topic in ask.body["topics"]:
        for one in topic["partitions"]:
            yield one["partition"], one["fetch_offset"]


def empty(values: Mapping[str, Any]) -> bool:
    """Whether an answer has neither records nor errors: a broker would wait with it."""
    return not values.get("error_code") and not any(
        one["records"] or one.get("error_code")
        for topic in values["responses"]
        for one in topic["partitions"]
    )


def _responses(
    cluster: Cluster, version: int, wanted: Wanted, *, everything: bool
) -> list[dict[str, Any]]:
    magic = 0 if version < 2 else 1 if version < 4 else 2
    topics: dict[str | uuid.UUID, list[dict[str, Any]]] = {}
    for (topic, partition), offset in wanted.items():
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
                "aborted_transactions": [],
                "records": log.read(offset, magic),
            }
        if everything or entry["records"] or entry["error_code"]:
            topics.setdefault(topic, []).append({"partition_index": partition, **entry})
    return [
        {"topic_id" if isinstance(topic, uuid.UUID) else "topic": topic, "partitions": entries}
        for topic, entries in topics.items()
    ]
