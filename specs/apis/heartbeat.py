"""Heartbeat (key 12): a member of a classic group shows that it lives and learns of rebalances.

Layout: HeartbeatRequest.json and HeartbeatResponse.json of Apache Kafka.
"""

from barnabas.specs.declaration import Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

Heartbeat = Api(
    versions=(0, 4),
    flexible=4,
    request=Message(
        "group_id"          / String,
        "generation_id"     / Int32,
        "member_id"         / String,
        "group_instance_id" / NullableString.since(3).default(None),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16,
    ),
)
