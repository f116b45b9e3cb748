"""The messages that the bench sends and reads: values of the sizes that it is about."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

Values = dict[str, Any]


def metadata(topics: int = 100, partitions: int = 10) -> Values:
    """A Metadata v12 response of a cluster of three brokers."""
    return {
        "throttle_time_ms": 0,
        "brokers": [
            {"node_id": n, "host": f"broker-{n}.example", "port": 9092, "rack": f"rack-{n}"}
            for n in range(3)
        ],
        "cluster_id": "fkyVpR6ITKOQ9x0Hcpx5Vg",
        "controller_id": 1,
        "topics": [
            {
                "error_code": 0,
                "name": f"topic-{t}",
                "topic_id": uuid.UUID(int=t + 1),
                "is_internal": False,
                "partitions": [
                    {
                        "error_code": 0,
                        "partition_index": p,
                        "leader_id": p % 3,
                        "leader_epoch": 7,
                        "replica_nodes": [0, 1, 2],
                        "isr_nodes": [0, 1, 2],
                        "offline_replicas": [],
                    }
                    for p in range(partitions)
                ],
                "topic_authorized_operations": -(2**31),
            }
            for t in range(topics)
        ],
    }


def fetched(partitions: int, records: int, version: int) -> Values:
    """A Fetch response (v13 or newer) of one topic, with this many bytes for each partition."""
    values: Values = {
        "throttle_time_ms": 0,
        "error_code": 0,
        "session_id": 0,
        "responses": [
            {
                "topic_id": uuid.UUID(int=1),
                "partitions": [
                    {
                        "partition_index": p,
                        "error_code": 0,
                        "high_watermark": 1000,
                        "last_stable_offset": 1000,
                        "log_start_offset": 0,
                        "diverging_epoch": {"epoch": -1, "end_offset": -1},
                        "current_leader": {"leader_id": -1, "leader_epoch": -1},
                        "snapshot_id": {"end_offset": -1, "epoch": -1},
                        "aborted_transactions": None,
                        "preferred_read_replica": -1,
                        "records": content(records),
                    }
                    for p in range(partitions)
                ],
            }
        ],
    }
    return values if version < 16 else values | {"node_endpoints": []}


def fetch(version: int) -> Values:
    """A Fetch request (v15 or newer) of one partition."""
    return {
        "cluster_id": None,
        "replica_state": {"replica_id": -1, "replica_epoch": -1},
        "max_wait_ms": 500,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "isolation_level": 0,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [
            {
                "topic_id": uuid.UUID(int=1),
                "partitions": [
                    {
                        "partition": 0,
                        "current_leader_epoch": 0,
                        "fetch_offset": 0,
                        "last_fetched_epoch": -1,
                        "log_start_offset": -1,
                        "partition_max_bytes": 1 << 20,
                    }
                ],
            }
        ],
        "forgotten_topics_data": [],
        "rack_id": "",
    }


def produce(records: int) -> Values:
    """A Produce request (up to v12) of one partition, acks=1."""
    return {
        "transactional_id": None,
        "acks": 1,
        "timeout_ms": 30_000,
        "topic_data": [
            {"name": "orders", "partition_data": [{"index": 0, "records": content(records)}]}
        ],
    }


def produced(name: str) -> Values:
    """Its response (v8 or v9); the topic's name makes its size."""
    return {
        "responses": [
            {
                "name": name,
                "partition_responses": [
                    {
                        "index": 0,
                        "error_code": 0,
                        "base_offset": 0,
                        "log_append_time_ms": -1,
                        "log_start_offset": 0,
                        "record_errors": [],
                        "error_message": None,
                    }
                ],
            }
        ],
        "throttle_time_ms": 0,
    }


def coordinators(groups: int) -> Values:
    """A FindCoordinator v4 response for this many groups."""
    return {
        "throttle_time_ms": 0,
        "coordinators": [
            {
                "key": f"group-{g}",
                "node_id": g % 3,
                "host": f"broker-{g % 3}.example",
                "port": 9092,
                "error_code": 0,
                "error_message": None,
            }
            for g in range(groups)
        ],
    }


def offsets(topics: int, partitions: int) -> Values:
    """An OffsetCommit v8 request."""
    return {
        "group_id": "orders-service",
        "generation_id_or_member_epoch": 17,
        "member_id": "consumer-1-0d2f5b1e-8f6b-4d57-8b0c-5d3f0a9f6f10",
        "group_instance_id": None,
        "topics": [
            {
                "name": f"topic-{t}",
                "partitions": [
                    {
                        "partition_index": p,
                        "committed_offset": 123_456_789 + p,
                        "committed_leader_epoch": 7,
                        "committed_metadata": "",
                    }
                    for p in range(partitions)
                ],
            }
            for t in range(topics)
        ],
    }


def joined(members: int) -> Values:
    """A JoinGroup v7 response, as the leader of a group gets it."""
    ids = [f"consumer-{m}-0d2f5b1e-8f6b-4d57-8b0c-5d3f0a9f6f10" for m in range(members)]
    return {
        "throttle_time_ms": 0,
        "error_code": 0,
        "generation_id": 17,
        "protocol_type": "consumer",
        "protocol_name": "cooperative-sticky",
        "leader": ids[0],
        "member_id": ids[0],
        "members": [
            {"member_id": one, "group_instance_id": None, "metadata": content(120)} for one in ids
        ],
    }


def content(size: int) -> bytes:
    """Bytes that are not all the same; nothing here looks into records."""
    return bytes(itertools.islice(itertools.cycle(range(251)), size))
