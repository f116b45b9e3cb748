"""AssignReplicasToDirs (key 73): a broker tells the controller which directory holds which replica.

Layout: AssignReplicasToDirsRequest.json and AssignReplicasToDirsResponse.json of Apache Kafka;
KIP-858.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, Uuid
from barnabas.specs.message import Api, Message

AssignReplicasToDirs = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "broker_id"    / Int32,
        "broker_epoch" / Int64.default(-1),
        "directories"  / Array(
            "id"     / Uuid,
            "topics" / Array(
                "topic_id"   / Uuid,
                "partitions" / Array(
                    "partition_index" / Int32,
                ),
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "directories"      / Array(
            "id"     / Uuid,
            "topics" / Array(
                "topic_id"   / Uuid,
                "partitions" / Array(
                    "partition_index" / Int32,
                    "error_code"      / Int16,
                ),
            ),
        ),
    ),
)
