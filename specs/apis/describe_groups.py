"""DescribeGroups (key 15): an admin asks for the state and the members of groups.

Layout: DescribeGroupsRequest.json and DescribeGroupsResponse.json of Apache Kafka.
"""

from barnabas.specs.declaration import Array, Bool, Bytes, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DescribeGroups = Api(
    versions=(0, 6),
    flexible=5,
    request=Message(
        "groups"                        / Array(String),
        "include_authorized_operations" / Bool.since(3),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "groups"           / Array(
            "error_code"            / Int16,
            "error_message"         / NullableString.since(6).default(None),
            "group_id"              / String,
            "group_state"           / String,
            "protocol_type"         / String,
            "protocol_data"         / String,
            "members"               / Array(
                "member_id"         / String,
                "group_instance_id" / NullableString.since(4).default(None),
                "client_id"         / String,
                "client_host"       / String,
                "member_metadata"   / Bytes,
                "member_assignment" / Bytes,
            ),
            "authorized_operations" / Int32.since(3).default(-2147483648),
        ),
    ),
)
