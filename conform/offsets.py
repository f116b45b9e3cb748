"""Common requests of offsets: ListOffsets, DeleteRecords and OffsetForLeaderEpoch of one partition."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.response import Response

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
"""Timestamps of ListOffsets with a meaning of their own."""


async def list_offsets(
    broker: Broker,
    topic: str,
    timestamp: int,
    *,
    version: int | None = None,
    on: Connection | None = None,
    isolation_level: int = 0,
    **fields: Any,
) -> Response:
    """Look up the offset of a timestamp, and return the partition's part of the response.

    Args:
        broker: the broker under test.
        topic: the topic.
        timestamp: a time in ms, or one of the constants above.
        version: the version; the newest offered if absent.
        on: a connection; that to the leader if absent.
        isolation_level: 1 is read_committed.
        fields: fields of the partition in the request.
    """
    row = {
        "partition_index": 0,
        "current_leader_epoch": -1,
        "timestamp": timestamp,
        "max_num_offsets": 10,
        **fields,
    }
    response = await (on or await broker.leader(topic, row["partition_index"])).send(
        "ListOffsets",
        broker.version("ListOffsets", 1) if version is None else version,
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[{"name": topic, "partitions": [row]}],
        timeout_ms=5_000,
    )
    return response.at("topics[0].partitions[0]")


async def delete_records(
    broker: Broker,
    topic: str,
    offset: int,
    *,
    on: Connection | None = None,
    **fields: Any,
) -> Response:
    """Delete the records before an offset, and return the partition's part of the response."""
    rows = [{"partition_index": 0, "offset": offset, **fields}]
    response = await (on or await broker.leader(topic)).send(
        "DeleteRecords", topics=[{"name": topic, "partitions": rows}], timeout_ms=10_000
    )
    return response.at("topics[0].partitions[0]")


async def epoch_end(
    broker: Broker,
    topic: str,
    leader_epoch: int,
    *,
    on: Connection | None = None,
    **fields: Any,
) -> Response:
    """Ask for the end offset of a leader epoch, and return the partition's part of the response."""
    row = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": leader_epoch, **fields}
    response = await (on or await broker.leader(topic)).send(
        "OffsetForLeaderEpoch", replica_id=-1, topics=[{"topic": topic, "partitions": [row]}]
    )
    return response.at("topics[0].partitions[0]")
