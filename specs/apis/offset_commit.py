"""OffsetCommit (key 8): a consumer group stores its positions.

Layout: OffsetCommitRequest.json and OffsetCommitResponse.json of Apache Kafka; v0 went to
ZooKeeper (and had a timestamp in 0.8.2-beta); topic ids from v10 (KIP-848).
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

OffsetCommit = Api(
    versions=(0, 10),
    flexible=8,
    request=Message(
        "group_id"                      / String,
        "generation_id_or_member_epoch" / Int32.since(1).default(-1),
        "member_id"                     / String.since(1),
        "group_instance_id"             / NullableString.since(7).default(None),
        "retention_time_ms"             / Int64.since(2).until(4).default(-1),
        "topics"                        / Array(
            "name"       / String.until(9),
            "topic_id"   / Uuid.since(10),
            "partitions" / Array(
                "partition_index"        / Int32,
                "committed_offset"       / Int64,
                "committed_leader_epoch" / Int32.since(6).default(-1),
                "commit_timestamp"       / Int64.until(0).releases("0.8.2-beta", "0.8.2-beta").default(-1),
                "commit_timestamp"       / Int64.since(1).until(1).default(-1),
                "committed_metadata"     / NullableString,
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(3),
        "topics"           / Array(
            "name"       / String.until(9),
            "topic_id"   / Uuid.since(10),
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
            ),
        ),
    ),
)
