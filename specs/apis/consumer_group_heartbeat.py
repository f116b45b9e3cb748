"""ConsumerGroupHeartbeat (key 68): a member of a new-style consumer group joins, beats, learns its
assignment and leaves.

Layout: ConsumerGroupHeartbeatRequest.json and ConsumerGroupHeartbeatResponse.json of Apache Kafka;
KIP-848; v0 of 3.5 and 3.6 had another layout.
"""

from specs.declaration import (
    Api,
    Array,
    Int16,
    Int32,
    Message,
    NullableString,
    String,
    Struct,
    Uuid,
)

TopicPartitions = Struct(
    "topic_id"   / Uuid,
    "partitions" / Array(Int32),
)

ConsumerGroupHeartbeat = Api(
    68,
    "ConsumerGroupHeartbeat",
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_id"               / String,
        "member_id"              / String,
        "member_epoch"           / Int32,
        "instance_id"            / NullableString.default(None),
        "rack_id"                / NullableString.default(None),
        "rebalance_timeout_ms"   / Int32.default(-1),
        "subscribed_topic_names" / Array(String).nullable().default(None),
        "subscribed_topic_regex" / NullableString.since(1).default(None),
        "server_assignor"        / NullableString.default(None),
        "topic_partitions"       / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(Int32),
        ).nullable().default(None),
    ),
    response=Message(
        "throttle_time_ms"      / Int32,
        "error_code"            / Int16,
        "error_message"         / NullableString.default(None),
        "member_id"             / NullableString.default(None),
        "member_epoch"          / Int32,
        "heartbeat_interval_ms" / Int32,
        "assignment"            / Struct(
            "topic_partitions" / Array(TopicPartitions),
        ).nullable().default(None),
    ),
)
