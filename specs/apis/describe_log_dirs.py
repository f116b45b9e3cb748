"""DescribeLogDirs (key 35): an admin asks what lies in a broker's log directories.

Layout: DescribeLogDirsRequest.json and DescribeLogDirsResponse.json of Apache Kafka; KIP-113; sizes
from v4 (KIP-827).
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopicPartitionsByName

DescribeLogDirs = Api(
    versions=(0, 5),
    flexible=2,
    request=Message(
        "topics" / Array(TopicPartitionsByName).nullable(),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16.since(3),
        "results"          / Array(
            "error_code"   / Int16,
            "log_dir"      / String,
            "topics"       / Array(
                "name"       / String,
                "partitions" / Array(
                    "partition_index" / Int32,
                    "partition_size"  / Int64,
                    "offset_lag"      / Int64,
                    "is_future_key"   / Bool,
                ),
            ),
            "total_bytes"  / Int64.since(4).default(-1),
            "usable_bytes" / Int64.since(4).default(-1),
            "is_cordoned"  / Bool.since(5),
        ),
    ),
)
