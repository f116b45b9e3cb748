"""TxnOffsetCommit (key 28): stores a group's positions inside a transaction.

Layout: TxnOffsetCommitRequest.json and TxnOffsetCommitResponse.json of Apache Kafka; KIP-98,
KIP-447.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

TxnOffsetCommit = Api(
    versions=(0, 6),
    flexible=3,
    request=Message(
        "transactional_id"              / String,
        "group_id"                      / String,
        "producer_id"                   / Int64,
        "producer_epoch"                / Int16,
        "generation_id_or_member_epoch" / Int32.since(3).default(-1),
        "member_id"                     / String.since(3),
        "group_instance_id"             / NullableString.since(3).default(None),
        "topics"                        / Array(
            "name"       / String.until(5),
            "topic_id"   / Uuid.since(6),
            "partitions" / Array(
                "partition_index"        / Int32,
                "committed_offset"       / Int64,
                "committed_leader_epoch" / Int32.since(2).default(-1),
                "committed_metadata"     / NullableString,
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "topics"           / Array(
            "name"       / String.until(5),
            "topic_id"   / Uuid.since(6),
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
            ),
        ),
    ),
)
