"""Records of __consumer_offsets: share groups (KIP-932).

Layout: ShareGroup*Key.json and ShareGroup*Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import (
    Array,
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
from barnabas.specs.structures import NamedTopicPartitions, TopicPartitions

# fmt: off

ShareGroupMemberMetadataKey = of_member("ShareGroupMemberMetadataKey")

ShareGroupMemberMetadataValue = Message(
    "rack_id"                / NullableString,
    "client_id"              / String,
    "client_host"            / String,
    "subscribed_topic_names" / Array(String),
).of("ShareGroupMemberMetadataValue", (0, 0), 0)

ShareGroupMetadataKey = of_group("ShareGroupMetadataKey")

ShareGroupMetadataValue = Message(
    "epoch"         / Int32,
    "metadata_hash" / Int64,
).of("ShareGroupMetadataValue", (0, 0), 0)

ShareGroupTargetAssignmentMetadataKey = of_group("ShareGroupTargetAssignmentMetadataKey")

ShareGroupTargetAssignmentMetadataValue = target_metadata("ShareGroupTargetAssignmentMetadataValue")

ShareGroupTargetAssignmentMemberKey = of_member("ShareGroupTargetAssignmentMemberKey")

ShareGroupTargetAssignmentMemberValue = Message(
    "topic_partitions" / Array(TopicPartitions),
).of("ShareGroupTargetAssignmentMemberValue", (0, 0), 0)

ShareGroupCurrentMemberAssignmentKey = of_member("ShareGroupCurrentMemberAssignmentKey")

ShareGroupCurrentMemberAssignmentValue = Message(
    "member_epoch"          / Int32,
    "previous_member_epoch" / Int32,
    "state"                 / Int8,
    "assigned_partitions"   / Array(TopicPartitions),
).of("ShareGroupCurrentMemberAssignmentValue", (0, 0), 0)

ShareGroupStatePartitionMetadataKey = of_group("ShareGroupStatePartitionMetadataKey")

TopicInfo = Struct(
    "topic_id"   / Uuid,
    "topic_name" / String,
)

ShareGroupStatePartitionMetadataValue = Message(
    "initializing_topics" / Array(NamedTopicPartitions),
    "initialized_topics"  / Array(NamedTopicPartitions),
    "deleting_topics"     / Array(TopicInfo),
).of("ShareGroupStatePartitionMetadataValue", (0, 0), 0)
