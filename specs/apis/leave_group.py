"""LeaveGroup (key 13): members leave a group at once instead of by time-out.

Layout: LeaveGroupRequest.json and LeaveGroupResponse.json of Apache Kafka; several members at once
from v3 (KIP-345).
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

LeaveGroup = Api(
    versions=(0, 5),
    flexible=4,
    request=Message(
        "group_id"  / String,
        "member_id" / String.until(2),
        "members"   / Array(
            "member_id"         / String,
            "group_instance_id" / NullableString.default(None),
            "reason"            / NullableString.since(5).default(None),
        ).since(3),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16,
        "members"          / Array(
            "member_id"         / String,
            "group_instance_id" / NullableString,
            "error_code"        / Int16,
        ).since(3),
    ),
)
