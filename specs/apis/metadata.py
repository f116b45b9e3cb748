"""Metadata (key 3): asks for the brokers, the topics and the leader of each partition.

Layout: MetadataRequest.json and MetadataResponse.json of Apache Kafka; topic ids from v10
(KIP-516).
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

Metadata = Api(
    versions=(0, 13),
    flexible=9,
    request=Message(
        "topics"                           / Array(
            "topic_id" / Uuid.since(10),
            "name"     / String.nullable(since=10),
        ).nullable(since=1),
        "allow_auto_topic_creation"        / Bool.since(4).default(True),
        "include_cluster_authorized_operations" / Bool.since(8).until(10),
        "include_topic_authorized_operations" / Bool.since(8),
    ),
    response=Message(
        "throttle_time_ms"              / Int32.since(3),
        "brokers"                       / Array(
            "node_id" / Int32,
            "host"    / String,
            "port"    / Int32,
            "rack"    / NullableString.since(1).default(None),
        ),
        "cluster_id"                    / NullableString.since(2).default(None),
        "controller_id"                 / Int32.since(1).default(-1),
        "topics"                        / Array(
            "error_code"                  / Int16,
            "name"                        / String.nullable(since=12),
            "topic_id"                    / Uuid.since(10),
            "is_internal"                 / Bool.since(1),
            "partitions"                  / Array(
                "error_code"       / Int16,
                "partition_index"  / Int32,
                "leader_id"        / Int32,
                "leader_epoch"     / Int32.since(7).default(-1),
                "replica_nodes"    / Array(Int32),
                "isr_nodes"        / Array(Int32),
                "offline_replicas" / Array(Int32).since(5),
            ),
            "topic_authorized_operations" / Int32.since(8).default(-2147483648),
        ),
        "cluster_authorized_operations" / Int32.since(8).until(10).default(-2147483648),
        "error_code"                    / Int16.since(13),
    ),
)
