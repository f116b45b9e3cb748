"""Records of __consumer_offsets: consumer groups, which the coordinator assigns (KIP-848).

Layout: ConsumerGroup*Key.json and ConsumerGroup*Value.json of Apache Kafka 4.3.1.
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
    Uuid,
)
from barnabas.specs.embedded.messages.groups import of_group, of_member, target_metadata
from barnabas.specs.message import Message
from barnabas.specs.structures import TopicPartitions

# fmt: off

ConsumerGroupMetadataKey = of_group("ConsumerGroupMetadataKey")

ConsumerGroupMetadataValue = Message(
    "epoch"         / Int32,
    "metadata_hash" / Int64.tag(0),
).of("ConsumerGroupMetadataValue", (0, 0), 0)

ConsumerGroupPartitionMetadataKey = of_group("ConsumerGroupPartitionMetadataKey")

ConsumerGroupPartitionMetadataValue = Message(
    "topics" / Array(
        "topic_id"           / Uuid,
        "topic_name"         / String,
        "num_partitions"     / Int32,
        "partition_metadata" / Array(
            "partition" / Int32,
            "racks"     / Array(String),
        ),
    ),
).of("ConsumerGroupPartitionMetadataValue", (0, 0), 0)

ConsumerGroupMemberMetadataKey = of_member("ConsumerGroupMemberMetadataKey")

ConsumerGroupMemberMetadataValue = Message(
    "instance_id"             / NullableString,
    "rack_id"                 / NullableString,
    "client_id"               / String,
    "client_host"             / String,
    "subscribed_topic_names"  / Array(String),
    "subscribed_topic_regex"  / NullableString,
    "rebalance_timeout_ms"    / Int32.default(-1),
    "server_assignor"         / NullableString,
    "classic_member_metadata" / Struct(
        "session_timeout_ms"  / Int32,
        "supported_protocols" / Array(
            "name"     / String,
            "metadata" / Bytes,
        ),
    ).nullable().tag(0),
).of("ConsumerGroupMemberMetadataValue", (0, 0), 0)

ConsumerGroupTargetAssignmentMetadataKey = of_group("ConsumerGroupTargetAssignmentMetadataKey")

ConsumerGroupTargetAssignmentMetadataValue = target_metadata("ConsumerGroupTargetAssignmentMetadataValue")

ConsumerGroupTargetAssignmentMemberKey = of_member("ConsumerGroupTargetAssignmentMemberKey")

ConsumerGroupTargetAssignmentMemberValue = Message(
    "topic_partitions" / Array(TopicPartitions),
).of("ConsumerGroupTargetAssignmentMemberValue", (0, 0), 0)

ConsumerGroupCurrentMemberAssignmentKey = of_member("ConsumerGroupCurrentMemberAssignmentKey")

TopicPartitionsAndEpochs = Struct(
    "topic_id"          / Uuid,
    "partitions"        / Array(Int32),
    "assignment_epochs" / Array(Int32).nullable().tag(0),
)

ConsumerGroupCurrentMemberAssignmentValue = Message(
    "member_epoch"                  / Int32,
    "previous_member_epoch"         / Int32,
    "state"                         / Int8,
    "assigned_partitions"           / Array(TopicPartitionsAndEpochs),
    "partitions_pending_revocation" / Array(TopicPartitionsAndEpochs),
).of("ConsumerGroupCurrentMemberAssignmentValue", (0, 0), 0)

ConsumerGroupRegularExpressionKey = Message(
    "group_id"           / String,
    "regular_expression" / String,
).of("ConsumerGroupRegularExpressionKey", (0, 0), FOREVER)

ConsumerGroupRegularExpressionValue = Message(
    "topics"    / Array(String),
    "version"   / Int64,
    "timestamp" / Int64,
).of("ConsumerGroupRegularExpressionValue", (0, 0), 0)
