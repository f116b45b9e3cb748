"""SyncGroup (key 14): the leader hands out the assignment, the others receive theirs.

Layout: SyncGroupRequest.json and SyncGroupResponse.json of Apache Kafka.
"""

from barnabas.specs.declaration import Array, Bytes, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

SyncGroup = Api(
    versions=(0, 5),
    flexible=4,
    request=Message(
        "group_id"          / String,
        "generation_id"     / Int32,
        "member_id"         / String,
        "group_instance_id" / NullableString.since(3).default(None),
        "protocol_type"     / NullableString.since(5).default(None),
        "protocol_name"     / NullableString.since(5).default(None),
        "assignments"       / Array(
            "member_id"  / String,
            "assignment" / Bytes,
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16,
        "protocol_type"    / NullableString.since(5).default(None),
        "protocol_name"    / NullableString.since(5).default(None),
        "assignment"       / Bytes,
    ),
)
