"""ShareGroupDescribe (key 77): an admin asks for the state of share groups.

Layout: ShareGroupDescribeRequest.json and ShareGroupDescribeResponse.json of Apache Kafka; KIP-932.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, String, Struct
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import NamedTopicPartitions

Assignment = Struct(
    "topic_partitions" / Array(NamedTopicPartitions),
)

ShareGroupDescribe = Api(
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
                "rack_id"                / NullableString.default(None),
                "member_epoch"           / Int32,
                "client_id"              / String,
                "client_host"            / String,
                "subscribed_topic_names" / Array(String),
                "assignment"             / Assignment,
            ),
            "authorized_operations" / Int32.default(-2147483648),
        ),
    ),
)
