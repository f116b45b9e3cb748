"""DescribeShareGroupOffsets (key 90): an admin asks where share partitions start.

Layout: DescribeShareGroupOffsetsRequest.json and DescribeShareGroupOffsetsResponse.json of Apache
Kafka; KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

DescribeShareGroupOffsets = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "groups" / Array(
            "group_id" / String,
            "topics"   / Array(
                "topic_name" / String,
                "partitions" / Array(Int32),
            ).nullable(),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "groups"           / Array(
            "group_id"      / String,
            "topics"        / Array(
                "topic_name" / String,
                "topic_id"   / Uuid,
                "partitions" / Array(
                    "partition_index" / Int32,
                    "start_offset"    / Int64,
                    "leader_epoch"    / Int32,
                    "lag"             / Int64.since(1).default(-1),
                    "error_code"      / Int16,
                    "error_message"   / NullableString.default(None),
                ),
            ),
            "error_code"    / Int16,
            "error_message" / NullableString.default(None),
        ),
    ),
)
