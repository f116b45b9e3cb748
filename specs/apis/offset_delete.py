"""OffsetDelete (key 47): an admin deletes stored positions of a group.

Layout: OffsetDeleteRequest.json and OffsetDeleteResponse.json of Apache Kafka; KIP-496.
"""

from barnabas.specs.declaration import Array, Int16, Int32, String
from barnabas.specs.message import Api, Message

OffsetDelete = Api(
    versions=(0, 0),
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
            ),
        ),
    ),
    response=Message(
        "error_code"       / Int16,
        "throttle_time_ms" / Int32,
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
            ),
        ),
    ),
)
