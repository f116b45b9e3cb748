"""AlterPartitionReassignments (key 45): an admin moves replicas between brokers.

Layout: AlterPartitionReassignmentsRequest.json and AlterPartitionReassignmentsResponse.json of
Apache Kafka; KIP-455.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

AlterPartitionReassignments = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "timeout_ms"                      / Int32.default(60000),
        "allow_replication_factor_change" / Bool.since(1).default(True),
        "topics"                          / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "replicas"        / Array(Int32).nullable().default(None),
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms"                / Int32,
        "allow_replication_factor_change" / Bool.since(1).default(True),
        "error_code"                      / Int16,
        "error_message"                   / NullableString,
        "responses"                       / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
                "error_message"   / NullableString,
            ),
        ),
    ),
)
