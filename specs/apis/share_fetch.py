"""ShareFetch (key 78): a share consumer acquires records, and acknowledges earlier ones.

Layout: ShareFetchRequest.json and ShareFetchResponse.json of Apache Kafka; KIP-932.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    Records,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import NodeEndpoint, TopicPartitions

ShareFetch = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "group_id"              / NullableString.default(None),
        "member_id"             / NullableString,
        "share_session_epoch"   / Int32,
        "max_wait_ms"           / Int32,
        "min_bytes"             / Int32,
        "max_bytes"             / Int32.default(2**31 - 1),
        "max_records"           / Int32.since(1),
        "batch_size"            / Int32.since(1),
        "share_acquire_mode"    / Int8.since(2),
        "is_renew_ack"          / Bool.since(2),
        "topics"                / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition_index"         / Int32,
                "partition_max_bytes"     / Int32.until(0),
                "acknowledgement_batches" / Array(
                    "first_offset"      / Int64,
                    "last_offset"       / Int64,
                    "acknowledge_types" / Array(Int8),
                ),
            ),
        ),
        "forgotten_topics_data" / Array(TopicPartitions),
    ),
    response=Message(
        "throttle_time_ms"            / Int32,
        "error_code"                  / Int16,
        "error_message"               / NullableString.default(None),
        "acquisition_lock_timeout_ms" / Int32.since(1),
        "responses"                   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition_index"           / Int32,
                "error_code"                / Int16,
                "error_message"             / NullableString.default(None),
                "acknowledge_error_code"    / Int16,
                "acknowledge_error_message" / NullableString.default(None),
                "current_leader"            / Struct(
                    "leader_id"    / Int32,
                    "leader_epoch" / Int32,
                ),
                "records"                   / Records.nullable(until=0),
                "acquired_records"          / Array(
                    "first_offset"   / Int64,
                    "last_offset"    / Int64,
                    "delivery_count" / Int16,
                ),
            ),
        ),
        "node_endpoints"              / Array(NodeEndpoint),
    ),
)
