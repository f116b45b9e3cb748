"""ConsumerGroupHeartbeat (key 68): a member joins, beats, learns its assignment and leaves (KIP-848).

Layout: ConsumerGroupHeartbeatRequest.json and ConsumerGroupHeartbeatResponse.json of Apache Kafka;
KIP-848; v0 of 3.5 and 3.6 had assignors of the client.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Int8,
    Int16,
    Int32,
    NullableString,
    String,
    Struct,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopicPartitions

ConsumerGroupHeartbeat = Api(
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
        "subscribed_topic_regex" / NullableString.until(0).releases(until="3.6").default(None),
        "subscribed_topic_regex" / NullableString.since(1).default(None),
        "server_assignor"        / NullableString.default(None),
        "client_assignors"       / Array(
            "name"             / String,
            "minimum_version"  / Int16,
            "maximum_version"  / Int16,
            "reason"           / Int8,
            "metadata_version" / Int16,
            "metadata_bytes"   / Bytes,
        ).until(0).releases(until="3.6").nullable().default(None),
        "topic_partitions"       / Array(TopicPartitions).nullable().default(None),
    ),
    response=Message(
        "throttle_time_ms"          / Int32,
        "error_code"                / Int16,
        "error_message"             / NullableString.default(None),
        "member_id"                 / NullableString.default(None),
        "member_epoch"              / Int32,
        "should_compute_assignment" / Bool.until(0).releases(until="3.6"),
        "heartbeat_interval_ms"     / Int32,
        "assignment"                / Struct(
            "error"                     / Int8.until(0).releases(until="3.6"),
            "assigned_topic_partitions" / Array(TopicPartitions).until(0).releases(until="3.6"),
            "pending_topic_partitions"  / Array(TopicPartitions).until(0).releases(until="3.6"),
            "topic_partitions"          / Array(TopicPartitions).releases(since="3.7"),
            "metadata_version"          / Int16.until(0).releases(until="3.6"),
            "metadata_bytes"            / Bytes.until(0).releases(until="3.6"),
        ).nullable().default(None),
    ),
)
