"""UpdateMetadata (key 6): the controller tells brokers the state of the cluster (ZooKeeper era).

Layout: UpdateMetadataRequest.json and UpdateMetadataResponse.json of Apache Kafka; left with Kafka
4.0.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message

UpdateMetadataPartitionState = Struct(
    "topic_name"       / String.until(4),
    "partition_index"  / Int32,
    "controller_epoch" / Int32,
    "leader"           / Int32,
    "leader_epoch"     / Int32,
    "isr"              / Array(Int32),
    "zk_version"       / Int32,
    "replicas"         / Array(Int32),
    "offline_replicas" / Array(Int32).since(4),
)

UpdateMetadata = Api(
    versions=(0, 8),
    flexible=6,
    request=Message(
        "controller_id"              / Int32,
        "is_kraft_controller"        / Bool.since(8),
        "type"                       / Int8.since(8).tag(0),
        "controller_epoch"           / Int32,
        "broker_epoch"               / Int64.since(5).default(-1),
        "ungrouped_partition_states" / Array(UpdateMetadataPartitionState).until(4),
        "topic_states"               / Array(
            "topic_name"       / String,
            "topic_id"         / Uuid.since(7),
            "partition_states" / Array(UpdateMetadataPartitionState),
        ).since(5),
        "live_brokers"               / Array(
            "id"        / Int32,
            "v0_host"   / String.until(0),
            "v0_port"   / Int32.until(0),
            "endpoints" / Array(
                "port"              / Int32,
                "host"              / String,
                "listener"          / String.since(3),
                "security_protocol" / Int16,
            ).since(1),
            "rack"      / NullableString.since(2),
        ),
    ),
    response=Message(
        "error_code" / Int16,
    ),
)
