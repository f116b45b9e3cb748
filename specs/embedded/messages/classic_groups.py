"""Records of __consumer_offsets: committed offsets, and classic groups.

Layout: (Legacy)OffsetCommitKey/Value.json and GroupMetadataKey/Value.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Bytes,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Message

# fmt: off

LegacyOffsetCommitKey = Message(
    "group"     / String,
    "topic"     / String,
    "partition" / Int32,
).of("LegacyOffsetCommitKey", (0, 0), FOREVER)

LegacyOffsetCommitValue = Message(
    "offset"           / Int64,
    "metadata"         / String,
    "commit_timestamp" / Int64,
).of("LegacyOffsetCommitValue", (0, 0), FOREVER)

OffsetCommitKey = LegacyOffsetCommitKey.of("OffsetCommitKey", (0, 0), FOREVER)

OffsetCommitValue = Message(
    "offset"           / Int64,
    "leader_epoch"     / Int32.since(3).default(-1),
    "metadata"         / String,
    "commit_timestamp" / Int64,
    "expire_timestamp" / Int64.since(1).until(1).default(-1),
    "topic_id"         / Uuid.since(4).tag(0),
).of("OffsetCommitValue", (0, 4), 4)

GroupMetadataKey = Message(
    "group" / String,
).of("GroupMetadataKey", (0, 0), FOREVER)

MemberMetadata = Struct(
    "member_id"         / String,
    "group_instance_id" / NullableString.since(3).default(None),
    "client_id"         / String,
    "client_host"       / String,
    "rebalance_timeout" / Int32.since(1).default(-1),
    "session_timeout"   / Int32,
    "subscription"      / Bytes,
    "assignment"        / Bytes,
)

GroupMetadataValue = Message(
    "protocol_type"           / String,
    "generation"              / Int32,
    "protocol"                / NullableString,
    "leader"                  / NullableString,
    "current_state_timestamp" / Int64.since(2).default(-1),
    "members"                 / Array(MemberMetadata),
).of("GroupMetadataValue", (0, 4), 4)
