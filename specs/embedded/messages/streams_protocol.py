"""The user data of Kafka Streams in the consumer protocol.

Layout: SubscriptionInfoData.json, and AssignmentInfo.java with ConsumerProtocolUtils.java, of Apache Kafka
4.3.1. Both begin with their own version, an int32 field; strings of the assignment are Java's modified UTF-8
after an unsigned length.
"""

from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Bytes,
    Int8,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    UInt16,
    Uuid,
)
from barnabas.specs.message import Message

# fmt: off

TaskId = Struct(
    "topic_group_id" / Int32,
    "partition"      / Int32,
)

PartitionToOffsetSum = Struct(
    "partition"  / Int32,
    "offset_sum" / Int64,
)

TaskOffsetSum = Struct(
    "topic_group_id"          / Int32,
    "partition"               / Int32.since(10),
    "offset_sum"              / Int64.since(10),
    "named_topology"          / NullableString.since(10),
    "partition_to_offset_sum" / Array(PartitionToOffsetSum).until(9),
)

ClientTag = Struct(
    "key"   / Bytes,
    "value" / Bytes,
)

SubscriptionInfoData = Message(
    "version"                  / Int32,
    "latest_supported_version" / Int32.since(3).default(-1),
    "process_id"               / Uuid,
    "prev_tasks"               / Array(TaskId).until(6),
    "standby_tasks"            / Array(TaskId).until(6),
    "user_end_point"           / Bytes.since(2),
    "task_offset_sums"         / Array(TaskOffsetSum).since(7),
    "unique_field"             / Int8.since(8),
    "error_code"               / Int32.since(9),
    "client_tags"              / Array(ClientTag).since(11),
).of("SubscriptionInfoData", (1, 11), FOREVER)

MemberTask = Struct(
    "topic_group_id" / Int32,
    "partition"      / Int32,
    "named_topology" / Array(UInt16).since(10),  # UTF-16, a number a code unit
)

TopicPartition = Struct(
    "topic"       / String.until(4),
    "topic_index" / Int32.since(5),
    "partition"   / Int32,
)

HostPartitions = Struct(
    "host"       / String,
    "port"       / Int32,
    "partitions" / Array(TopicPartition),
)

AssignmentInfo = Message(
    "version"                    / Int32,
    "commonly_supported_version" / Int32.since(3).default(-1),
    "active_tasks"               / Array(MemberTask),
    "standby_tasks"              / Array(
        "topic_group_id" / Int32,
        "partition"      / Int32,
        "named_topology" / Array(UInt16).since(10),
        "partitions"     / Array(
            "topic"     / String,
            "partition" / Int32,
        ),
    ),
    "topics"                     / Array(
        "index" / Int32,
        "name"  / String,
    ).since(5),
    "partitions_by_host"         / Array(HostPartitions).since(2),
    "standby_partitions_by_host" / Array(HostPartitions).since(6),
    "err_code"                   / Int32.since(4),
    "next_rebalance_ms"          / Int64.since(7).default(2**63 - 1),
).of("AssignmentInfo", (1, 11), FOREVER)
