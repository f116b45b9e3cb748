"""ShareGroupHeartbeat (key 76): a share group's member joins, beats, learns its assignment and leaves.

Layout: ShareGroupHeartbeatRequest.json and ShareGroupHeartbeatResponse.json of Apache Kafka;
KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Struct
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopicPartitions

ShareGroupHeartbeat = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_id"               / String,
        "member_id"              / String,
        "member_epoch"           / Int32,
        "rack_id"                / NullableString.default(None),
        "subscribed_topic_names" / Array(String).nullable().default(None),
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
