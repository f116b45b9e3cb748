"""ConsumerGroupDescribe (key 69): an admin asks for the state of new-style consumer groups.

Layout: ConsumerGroupDescribeRequest.json and ConsumerGroupDescribeResponse.json of Apache Kafka;
KIP-848; v0 of 3.7 had assignors of the client.
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
from barnabas.specs.structures import NamedTopicPartitions

Assignment = Struct(
    "topic_partitions" / Array(NamedTopicPartitions),
    "error"            / Int8.until(0).releases(until="3.7"),
    "metadata_version" / Int32.until(0).releases(until="3.7"),
    "metadata_bytes"   / Bytes.until(0).releases(until="3.7"),
)

ConsumerGroupDescribe = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_ids"                     / Array(String),
        "include_authorized_operations" / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "groups"           / Array(
            "error_code"            / Int16,
            "error_message"         / NullableString.default(None),
            "group_id"              / String,
            "group_state"           / String,
            "group_epoch"           / Int32,
            "assignment_epoch"      / Int32,
            "assignor_name"         / String,
            "members"               / Array(
                "member_id"              / String,
                "instance_id"            / NullableString.default(None),
                "rack_id"                / NullableString.default(None),
                "member_epoch"           / Int32,
                "client_id"              / String,
                "client_host"            / String,
                "subscribed_topic_names" / Array(String),
                "subscribed_topic_regex" / NullableString.default(None),
                "assignment"             / Assignment,
                "target_assignment"      / Assignment,
                "member_type"            / Int8.since(1).default(-1),
            ),
            "authorized_operations" / Int32.default(-2147483648),
        ),
    ),
)
