"""DescribeTopicPartitions (key 75): asks for topics page by page, with eligible leader replicas.

Layout: DescribeTopicPartitionsRequest.json and DescribeTopicPartitionsResponse.json of Apache
Kafka; KIP-966.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int16,
    Int32,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message

DescribeTopicPartitions = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "topics"                   / Array(
            "name" / String,
        ),
        "response_partition_limit" / Int32.default(2000),
        "cursor"                   / Struct(
            "topic_name"      / String,
            "partition_index" / Int32,
        ).nullable().default(None),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "topics"           / Array(
            "error_code"                  / Int16,
            "name"                        / NullableString,
            "topic_id"                    / Uuid,
            "is_internal"                 / Bool,
            "partitions"                  / Array(
                "error_code"               / Int16,
                "partition_index"          / Int32,
                "leader_id"                / Int32,
                "leader_epoch"             / Int32.default(-1),
                "replica_nodes"            / Array(Int32),
                "isr_nodes"                / Array(Int32),
                "eligible_leader_replicas" / Array(Int32).nullable().default(None),
                "last_known_elr"           / Array(Int32).nullable().default(None),
                "offline_replicas"         / Array(Int32),
            ),
            "topic_authorized_operations" / Int32.default(-2147483648),
        ),
        "next_cursor"      / Struct(
            "topic_name"      / String,
            "partition_index" / Int32,
        ).nullable().default(None),
    ),
)
