"""StopReplica (key 5): the controller tells a broker to stop or delete replicas (ZooKeeper era).

Layout: StopReplicaRequest.json and StopReplicaResponse.json of Apache Kafka; left with Kafka 4.0.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

StopReplica = Api(
    versions=(0, 4),
    flexible=2,
    request=Message(
        "controller_id"        / Int32,
        "is_kraft_controller"  / Bool.since(4),
        "controller_epoch"     / Int32,
        "broker_epoch"         / Int64.since(1).default(-1),
        "delete_partitions"    / Bool.until(2),
        "ungrouped_partitions" / Array(
            "topic_name"      / String,
            "partition_index" / Int32,
        ).until(0),
        "topics"               / Array(
            "name"              / String,
            "partition_indexes" / Array(Int32),
        ).since(1).until(2),
        "topic_states"         / Array(
            "topic_name"       / String,
            "partition_states" / Array(
                "partition_index"  / Int32,
                "leader_epoch"     / Int32.default(-1),
                "delete_partition" / Bool,
            ),
        ).since(3),
    ),
    response=Message(
        "error_code"       / Int16,
        "partition_errors" / Array(
            "topic_name"      / String,
            "partition_index" / Int32,
            "error_code"      / Int16,
        ),
    ),
)
