"""ListPartitionReassignments (key 46): an admin lists the moves under way.

Layout: ListPartitionReassignmentsRequest.json and ListPartitionReassignmentsResponse.json of Apache
Kafka; KIP-455.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

ListPartitionReassignments = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "timeout_ms" / Int32.default(60000),
        "topics"     / Array(
            "name"              / String,
            "partition_indexes" / Array(Int32),
        ).nullable().default(None),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index"   / Int32,
                "replicas"          / Array(Int32),
                "adding_replicas"   / Array(Int32),
                "removing_replicas" / Array(Int32),
            ),
        ),
    ),
)
