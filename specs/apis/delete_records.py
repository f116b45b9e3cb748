"""DeleteRecords (key 21): an admin deletes the records before an offset.

Layout: DeleteRecordsRequest.json and DeleteRecordsResponse.json of Apache Kafka; KIP-107.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

DeleteRecords = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "topics"     / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "offset"          / Int64,
            ),
        ),
        "timeout_ms" / Int32,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "low_watermark"   / Int64,
                "error_code"      / Int16,
            ),
        ),
    ),
)
