"""Produce (key 0): a client appends record batches to partitions.

Layout: ProduceRequest.json and ProduceResponse.json of Apache Kafka; acks=0 has no response; topic
ids from v13 (KIP-516), leaders in the response from v10 (KIP-951).
"""

from barnabas.specs.declaration import (
    Array,
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

Produce = Api(
    versions=(0, 13),
    flexible=9,
    request=Message(
        "transactional_id" / NullableString.since(3).default(None),
        "acks"             / Int16,
        "timeout_ms"       / Int32,
        "topic_data"       / Array(
            "name"           / String.until(12),
            "topic_id"       / Uuid.since(13),
            "partition_data" / Array(
                "index"   / Int32,
                "records" / NullableRecords,
            ),
        ),
    ),
    response=Message(
        "responses"        / Array(
            "name"                / String.until(12),
            "topic_id"            / Uuid.since(13),
            "partition_responses" / Array(
                "index"              / Int32,
                "error_code"         / Int16,
                "base_offset"        / Int64,
                "log_append_time_ms" / Int64.since(2).default(-1),
                "log_start_offset"   / Int64.since(5).default(-1),
                "record_errors"      / Array(
                    "batch_index"               / Int32,
                    "batch_index_error_message" / NullableString.default(None),
                ).since(8),
                "error_message"      / NullableString.since(8).default(None),
                "current_leader"     / Struct(
                    "leader_id"    / Int32.default(-1),
                    "leader_epoch" / Int32.default(-1),
                ).since(10).tag(0),
            ),
        ),
        "throttle_time_ms" / Int32.since(1),
        "node_endpoints"   / Array(NodeEndpoint).since(10).tag(0),
    ),
)
