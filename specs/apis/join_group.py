"""JoinGroup (key 11): a member enters a group, or joins again when it rebalances.

Layout: JoinGroupRequest.json and JoinGroupResponse.json of Apache Kafka; static membership from v5
(KIP-345), reasons from v8 (KIP-800).
"""

from barnabas.specs.declaration import Array, Bool, Bytes, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

JoinGroup = Api(
    versions=(0, 9),
    flexible=6,
    request=Message(
        "group_id"             / String,
        "session_timeout_ms"   / Int32,
        "rebalance_timeout_ms" / Int32.since(1).default(-1),
        "member_id"            / String,
        "group_instance_id"    / NullableString.since(5).default(None),
        "protocol_type"        / String,
        "protocols"            / Array(
            "name"     / String,
            "metadata" / Bytes,
        ),
        "reason"               / NullableString.since(8).default(None),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(2),
        "error_code"       / Int16,
        "generation_id"    / Int32.default(-1),
        "protocol_type"    / NullableString.since(7).default(None),
        "protocol_name"    / String.nullable(since=7),
        "leader"           / String,
        "skip_assignment"  / Bool.since(9),
        "member_id"        / String,
        "members"          / Array(
            "member_id"         / String,
            "group_instance_id" / NullableString.since(5).default(None),
            "metadata"          / Bytes,
        ),
    ),
)
