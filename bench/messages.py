"""The messages that the bench sends and reads: values of the sizes that it is about.

A field that is not given has its default.
"""

from __future__ import annotations

import itertools
import uuid
from typing import Any

Values = dict[str, Any]


def metadata(topics: int = 100, partitions: int = 10) -> Values:
    """Return a Metadata v12 response of a cluster of three brokers."""
    everywhere = {"leader_epoch": 7, "replica_nodes": [0, 1, 2], "isr_nodes": [0, 1, 2]}
    led = [{"partition_index": p, "leader_id": p % 3, **everywhere} for p in range(partitions)]
    return {
        "brokers": [
            {"node_id": n, "host": f"broker-{n}.example", "port": 9092, "rack": f"rack-{n}"}
            for n in range(3)
        ],
        "cluster_id": "fkyVpR6ITKOQ9x0Hcpx5Vg",
        "controller_id": 1,
        "topics": [
            {"name": f"topic-{t}", "topic_id": uuid.UUID(int=t + 1), "partitions": led}
            for t in range(topics)
        ],
    }


def fetched(partitions: int, records: int) -> Values:
    """Return a Fetch response (v13 or newer) of one topic.

    Args:
        partitions: how many.
        records: bytes of record batches for each partition.
    """
    offsets = {"high_watermark": 1000, "last_stable_offset": 1000, "log_start_offset": 0}
    same = {**offsets, "aborted_transactions": None, "records": content(records)}
    partition_rows = [{"partition_index": p, **same} for p in range(partitions)]
    return {"responses": [{"topic_id": uuid.UUID(int=1), "partitions": partition_rows}]}


def fetch() -> Values:
    """Return a Fetch request (v15 or newer) of one partition."""
    partition = {"current_leader_epoch": 0, "partition_max_bytes": 1 << 20}
    return {
        "max_wait_ms": 500,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "topics": [{"topic_id": uuid.UUID(int=1), "partitions": [partition]}],
    }


def produce(records: int) -> Values:
    """Return a Produce request (up to v12) of one partition, acks=1."""
    partition = {"index": 0, "records": content(records)}
    topics = [{"name": "orders", "partition_data": [partition]}]
    return {"acks": 1, "timeout_ms": 30_000, "topic_data": topics}


def produced(name: str) -> Values:
    """Return a Produce response (v8 or v9); the topic's name determines its size."""
    partition = {"index": 0, "log_start_offset": 0}
    return {"responses": [{"name": name, "partition_responses": [partition]}]}


def coordinators(groups: int) -> Values:
    """Return a FindCoordinator v4 response for a number of groups."""
    return {
        "coordinators": [
            {
                "key": f"group-{g}",
                "node_id": g % 3,
                "host": f"broker-{g % 3}.example",
                "port": 9092,
                "error_message": None,
            }
            for g in range(groups)
        ],
    }


def offsets(topics: int, partitions: int) -> Values:
    """Return an OffsetCommit v8 request."""
    committed = [
        {"partition_index": p, "committed_offset": 123_456_789 + p, "committed_leader_epoch": 7}
        | {"committed_metadata": ""}
        for p in range(partitions)
    ]
    return {
        "group_id": "orders-service",
        "generation_id_or_member_epoch": 17,
        "member_id": "consumer-1-0d2f5b1e-8f6b-4d57-8b0c-5d3f0a9f6f10",
        "topics": [{"name": f"topic-{t}", "partitions": committed} for t in range(topics)],
    }


def joined(members: int) -> Values:
    """Return a JoinGroup v7 response for the leader of a group."""
    ids = [f"consumer-{m}-0d2f5b1e-8f6b-4d57-8b0c-5d3f0a9f6f10" for m in range(members)]
    return {
        "generation_id": 17,
        "protocol_type": "consumer",
        "protocol_name": "cooperative-sticky",
        "leader": ids[0],
        "member_id": ids[0],
        "members": [{"member_id": member, "metadata": content(120)} for member in ids],
    }


def content(size: int) -> bytes:
    """Bytes that are not all the same; nothing here looks into records."""
    return bytes(itertools.islice(itertools.cycle(range(251)), size))
