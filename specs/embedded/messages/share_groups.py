"""Records of __consumer_offsets: share groups (KIP-932).

Layout: ShareGroup*Key.json and ShareGroup*Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Int8,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Message

# fmt: off

ShareGroupMemberMetadataKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("ShareGroupMemberMetadataKey", (0, 0), FOREVER)

ShareGroupMemberMetadataValue = Message(
    "rack_id"                / NullableString,
    "client_id"              / String,
    "client_host"            / String,
    "subscribed_topic_names" / Array(String),
).of("ShareGroupMemberMetadataValue", (0, 0), 0)

ShareGroupMetadataKey = Message(
    "group_id" / String,
).of("ShareGroupMetadataKey", (0, 0), FOREVER)

ShareGroupMetadataValue = Message(
    "epoch"         / Int32,
    "metadata_hash" / Int64,
).of("ShareGroupMetadataValue", (0, 0), 0)

ShareGroupTargetAssignmentMetadataKey = Message(
    "group_id" / String,
).of("ShareGroupTargetAssignmentMetadataKey", (0, 0), FOREVER)

ShareGroupTargetAssignmentMetadataValue = Message(
    "assignment_epoch"     / Int32,
    "assignment_timestamp" / Int64.tag(0),
).of("ShareGroupTargetAssignmentMetadataValue", (0, 0), 0)

ShareGroupTargetAssignmentMemberKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("ShareGroupTargetAssignmentMemberKey", (0, 0), FOREVER)

ShareGroupTargetAssignmentMemberValue = Message(
    "topic_partitions" / Array(
        "topic_id"   / Uuid,
        "partitions" / Array(Int32),
    ),
).of("ShareGroupTargetAssignmentMemberValue", (0, 0), 0)

ShareGroupCurrentMemberAssignmentKey = Message(
    "group_id"  / String,
    "member_id" / String,
).of("ShareGroupCurrentMemberAssignmentKey", (0, 0), FOREVER)

TopicPartitions = Struct(
    "topic_id"   / Uuid,
    "partitions" / Array(Int32),
)

ShareGroupCurrentMemberAssignmentValue = Message(
    "member_epoch"          / Int32,
    "previous_member_epoch" / Int32,
    "state"                 / Int8,
    "assigned_partitions"   / Array(TopicPartitions),
).of("ShareGroupCurrentMemberAssignmentValue", (0, 0), 0)

ShareGroupStatePartitionMetadataKey = Message(
    "group_id" / String,
).of("ShareGroupStatePartitionMetadataKey", (0, 0), FOREVER)

TopicPartitionsInfo = Struct(
    "topic_id"   / Uuid,
    "topic_name" / String,
    "partitions" / Array(Int32),
)

TopicInfo = Struct(
    "topic_id"   / Uuid,
    "topic_name" / String,
)

ShareGroupStatePartitionMetadataValue = Message(
    "initializing_topics" / Array(TopicPartitionsInfo),
    "initialized_topics"  / Array(TopicPartitionsInfo),
    "deleting_topics"     / Array(TopicInfo),
).of("ShareGroupStatePartitionMetadataValue", (0, 0), 0)
