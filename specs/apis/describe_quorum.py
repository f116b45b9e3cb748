"""DescribeQuorum (key 55): an admin asks for the state of the KRaft quorum.

Layout: DescribeQuorumRequest.json and DescribeQuorumResponse.json of Apache Kafka; KIP-595,
KIP-836, KIP-853; the nodes' listeners from v2.
"""

from barnabas.specs.declaration import (
    Array,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Listener

ReplicaState = Struct(
    "replica_id"               / Int32,
    "replica_directory_id"     / Uuid.since(2),
    "log_end_offset"           / Int64,
    "last_fetch_timestamp"     / Int64.since(1).default(-1),
    "last_caught_up_timestamp" / Int64.since(1).default(-1),
)

DescribeQuorum = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "topics" / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index" / Int32,
            ),
        ),
    ),
    response=Message(
        "error_code"    / Int16,
        "error_message" / NullableString.since(2),
        "topics"        / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
                "error_message"   / NullableString.since(2),
                "leader_id"       / Int32,
                "leader_epoch"    / Int32,
                "high_watermark"  / Int64,
                "current_voters"  / Array(ReplicaState),
                "observers"       / Array(ReplicaState),
            ),
        ),
        "nodes"         / Array(
            "node_id"   / Int32,
            "listeners" / Array(Listener),
        ).since(2),
    ),
)
