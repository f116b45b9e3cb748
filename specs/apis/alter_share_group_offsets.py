"""AlterShareGroupOffsets (key 91): an admin moves where share partitions start.

Layout: AlterShareGroupOffsetsRequest.json and AlterShareGroupOffsetsResponse.json of Apache Kafka;
KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

AlterShareGroupOffsets = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "start_offset"    / Int64,
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString.default(None),
        "responses"        / Array(
            "topic_name" / String,
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
                "error_message"   / NullableString.default(None),
            ),
        ),
    ),
)
