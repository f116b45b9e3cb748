"""AlterReplicaLogDirs (key 34): an admin moves replicas between the disks of a broker.

Layout: AlterReplicaLogDirsRequest.json and AlterReplicaLogDirsResponse.json of Apache Kafka;
KIP-113.
"""

from barnabas.specs.declaration import Array, Int16, Int32, String
from barnabas.specs.message import Api, Message

AlterReplicaLogDirs = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "dirs" / Array(
            "path"   / String,
            "topics" / Array(
                "name"       / String,
                "partitions" / Array(Int32),
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
            ),
        ),
    ),
)
