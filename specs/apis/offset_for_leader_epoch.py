"""OffsetForLeaderEpoch (key 23): asks where a leader epoch ended, to find the point of divergence.

Layout: OffsetForLeaderEpochRequest.json and OffsetForLeaderEpochResponse.json of Apache Kafka;
KIP-101, KIP-279, KIP-320.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

OffsetForLeaderEpoch = Api(
    versions=(0, 4),
    flexible=4,
    request=Message(
        "replica_id" / Int32.since(3).default(-2),
        "topics"     / Array(
            "topic"      / String,
            "partitions" / Array(
                "partition"            / Int32,
                "current_leader_epoch" / Int32.since(2).default(-1),
                "leader_epoch"         / Int32,
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(2),
        "topics"           / Array(
            "topic"      / String,
            "partitions" / Array(
                "error_code"   / Int16,
                "partition"    / Int32,
                "leader_epoch" / Int32.since(1).default(-1),
                "end_offset"   / Int64.default(-1),
            ),
        ),
    ),
)
