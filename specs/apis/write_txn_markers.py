"""WriteTxnMarkers (key 27): the transaction coordinator has commit or abort markers written.

Layout: WriteTxnMarkersRequest.json and WriteTxnMarkersResponse.json of Apache Kafka; KIP-98.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

WriteTxnMarkers = Api(
    versions=(0, 2),
    flexible=1,
    request=Message(
        "markers" / Array(
            "producer_id"         / Int64,
            "producer_epoch"      / Int16,
            "transaction_result"  / Bool,
            "topics"              / Array(
                "name"              / String,
                "partition_indexes" / Array(Int32),
            ),
            "coordinator_epoch"   / Int32,
            "transaction_version" / Int8.since(2),
        ),
    ),
    response=Message(
        "markers" / Array(
            "producer_id" / Int64,
            "topics"      / Array(
                "name"       / String,
                "partitions" / Array(
                    "partition_index" / Int32,
                    "error_code"      / Int16,
                ),
            ),
        ),
    ),
)
