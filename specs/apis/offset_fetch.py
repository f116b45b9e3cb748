"""OffsetFetch (key 9): a consumer group reads its stored positions.

Layout: OffsetFetchRequest.json and OffsetFetchResponse.json of Apache Kafka; several groups at once
from v8 (KIP-709).
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Uuid,
)
from barnabas.specs.message import Api, Message

OffsetFetch = Api(
    versions=(0, 10),
    flexible=6,
    request=Message(
        "group_id"       / String.until(7),
        "topics"         / Array(
            "name"              / String,
            "partition_indexes" / Array(Int32),
        ).until(7).nullable(since=2),
        "groups"         / Array(
            "group_id"     / String,
            "member_id"    / NullableString.since(9).default(None),
            "member_epoch" / Int32.since(9).default(-1),
            "topics"       / Array(
                "name"              / String.until(9),
                "topic_id"          / Uuid.since(10),
                "partition_indexes" / Array(Int32),
            ).nullable(),
        ).since(8),
        "require_stable" / Bool.since(7),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(3),
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index"        / Int32,
                "committed_offset"       / Int64,
                "committed_leader_epoch" / Int32.since(5).default(-1),
                "metadata"               / NullableString,
                "error_code"             / Int16,
            ),
        ).until(7),
        "error_code"       / Int16.since(2).until(7),
        "groups"           / Array(
            "group_id"   / String,
            "topics"     / Array(
                "name"       / String.until(9),
                "topic_id"   / Uuid.since(10),
                "partitions" / Array(
                    "partition_index"        / Int32,
                    "committed_offset"       / Int64,
                    "committed_leader_epoch" / Int32.default(-1),
                    "metadata"               / NullableString,
                    "error_code"             / Int16,
                ),
            ),
            "error_code" / Int16,
        ).since(8),
    ),
)
