"""DescribeProducers (key 61): an admin lists the active producers of partitions.

Layout: DescribeProducersRequest.json and DescribeProducersResponse.json of Apache Kafka; KIP-664.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String
from barnabas.specs.message import Api, Message

DescribeProducers = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "topics" / Array(
            "name"              / String,
            "partition_indexes" / Array(Int32),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index"  / Int32,
                "error_code"       / Int16,
                "error_message"    / NullableString.default(None),
                "active_producers" / Array(
                    "producer_id"              / Int64,
                    "producer_epoch"           / Int32,
                    "last_sequence"            / Int32.default(-1),
                    "last_timestamp"           / Int64.default(-1),
                    "coordinator_epoch"        / Int32,
                    "current_txn_start_offset" / Int64.default(-1),
                ),
            ),
        ),
    ),
)
