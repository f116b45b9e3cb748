"""AlterPartition (key 56): a leader asks the controller to change a partition's in-sync replicas.

Layout: AlterPartitionRequest.json and AlterPartitionResponse.json of Apache Kafka; KIP-497,
KIP-704, KIP-903.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, Int64, String, Uuid
from barnabas.specs.message import Api, Message

AlterPartition = Api(
    versions=(0, 3),
    flexible=0,
    request=Message(
        "broker_id"    / Int32,
        "broker_epoch" / Int64.default(-1),
        "topics"       / Array(
            "topic_name" / String.until(1),
            "topic_id"   / Uuid.since(2),
            "partitions" / Array(
                "partition_index"       / Int32,
                "leader_epoch"          / Int32,
                "new_isr"               / Array(Int32).until(2),
                "new_isr_with_epochs"   / Array(
                    "broker_id"    / Int32,
                    "broker_epoch" / Int64.default(-1),
                ).since(3),
                "leader_recovery_state" / Int8.since(1),
                "partition_epoch"       / Int32,
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "topics"           / Array(
            "topic_name" / String.until(1),
            "topic_id"   / Uuid.since(2),
            "partitions" / Array(
                "partition_index"       / Int32,
                "error_code"            / Int16,
                "leader_id"             / Int32,
                "leader_epoch"          / Int32,
                "isr"                   / Array(Int32),
                "leader_recovery_state" / Int8.since(1),
                "partition_epoch"       / Int32,
            ),
        ),
    ),
)
