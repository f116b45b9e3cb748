"""LeaderAndIsr (key 4): the controller tells a broker its partitions and their roles (ZooKeeper era).

Layout: LeaderAndIsrRequest.json and LeaderAndIsrResponse.json of Apache Kafka; left with Kafka 4.0.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, Int64, String, Struct, Uuid
from barnabas.specs.message import Api, Message

LeaderAndIsrPartitionState = Struct(
    "topic_name"            / String.until(1),
    "partition_index"       / Int32,
    "controller_epoch"      / Int32,
    "leader"                / Int32,
    "leader_epoch"          / Int32,
    "isr"                   / Array(Int32),
    "partition_epoch"       / Int32,
    "replicas"              / Array(Int32),
    "adding_replicas"       / Array(Int32).since(3),
    "removing_replicas"     / Array(Int32).since(3),
    "is_new"                / Bool.since(1),
    "leader_recovery_state" / Int8.since(6),
)

LeaderAndIsrPartitionError = Struct(
    "topic_name"      / String.until(4),
    "partition_index" / Int32,
    "error_code"      / Int16,
)

LeaderAndIsr = Api(
    versions=(0, 7),
    flexible=4,
    request=Message(
        "controller_id"              / Int32,
        "is_kraft_controller"        / Bool.since(7),
        "controller_epoch"           / Int32,
        "broker_epoch"               / Int64.since(2).default(-1),
        "type"                       / Int8.since(5),
        "ungrouped_partition_states" / Array(LeaderAndIsrPartitionState).until(1),
        "topic_states"               / Array(
            "topic_name"       / String,
            "topic_id"         / Uuid.since(5),
            "partition_states" / Array(LeaderAndIsrPartitionState),
        ).since(2),
        "live_leaders"               / Array(
            "broker_id" / Int32,
            "host_name" / String,
            "port"      / Int32,
        ),
    ),
    response=Message(
        "error_code"       / Int16,
        "partition_errors" / Array(LeaderAndIsrPartitionError).until(4),
        "topics"           / Array(
            "topic_id"         / Uuid,
            "partition_errors" / Array(LeaderAndIsrPartitionError),
        ).since(5),
    ),
)
