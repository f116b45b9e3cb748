"""Fetch (key 1): a client or a follower reads record batches from partitions.

Layout: FetchRequest.json and FetchResponse.json of Apache Kafka; sessions from v7 (KIP-227), topic
ids from v13 (KIP-516), node endpoints from v16 (KIP-951).
"""

from barnabas.specs.declaration import (
    Array,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableRecords,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import NodeEndpoint

Fetch = Api(
    versions=(0, 18),
    flexible=12,
    request=Message(
        "cluster_id"            / NullableString.since(12).tag(0).default(None),
        "replica_id"            / Int32.until(14).default(-1),
        "replica_state"         / Struct(
            "replica_id"    / Int32.default(-1),
            "replica_epoch" / Int64.default(-1),
        ).since(15).tag(1),
        "max_wait_ms"           / Int32,
        "min_bytes"             / Int32,
        "max_bytes"             / Int32.since(3).default(2**31 - 1),
        "isolation_level"       / Int8.since(4),
        "session_id"            / Int32.since(7),
        "session_epoch"         / Int32.since(7).default(-1),
        "topics"                / Array(
            "topic"      / String.until(12),
            "topic_id"   / Uuid.since(13),
            "partitions" / Array(
                "partition"            / Int32,
                "current_leader_epoch" / Int32.since(9).default(-1),
                "fetch_offset"         / Int64,
                "last_fetched_epoch"   / Int32.since(12).default(-1),
                "log_start_offset"     / Int64.since(5).default(-1),
                "partition_max_bytes"  / Int32,
                "replica_directory_id" / Uuid.since(17).tag(0),
                "high_watermark"       / Int64.since(18).tag(1).default(2**63 - 1),
            ),
        ),
        "forgotten_topics_data" / Array(
            "topic"      / String.until(12),
            "topic_id"   / Uuid.since(13),
            "partitions" / Array(Int32),
        ).since(7),
        "rack_id"               / String.since(11),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16.since(7),
        "session_id"       / Int32.since(7),
        "responses"        / Array(
            "topic"      / String.until(12),
            "topic_id"   / Uuid.since(13),
            "partitions" / Array(
                "partition_index"        / Int32,
                "error_code"             / Int16,
                "high_watermark"         / Int64,
                "last_stable_offset"     / Int64.since(4).default(-1),
                "log_start_offset"       / Int64.since(5).default(-1),
                "diverging_epoch"        / Struct(
                    "epoch"      / Int32.default(-1),
                    "end_offset" / Int64.default(-1),
                ).since(12).tag(0),
                "current_leader"         / Struct(
                    "leader_id"    / Int32.default(-1),
                    "leader_epoch" / Int32.default(-1),
                ).since(12).tag(1),
                "snapshot_id"            / Struct(
                    "end_offset" / Int64.default(-1),
                    "epoch"      / Int32.default(-1),
                ).since(12).tag(2),
                "aborted_transactions"   / Array(
                    "producer_id"  / Int64,
                    "first_offset" / Int64,
                ).since(4).nullable(),
                "preferred_read_replica" / Int32.since(11).default(-1),
                "records"                / NullableRecords,
            ),
        ),
        "node_endpoints"   / Array(NodeEndpoint).since(16).tag(0),
    ),
)
