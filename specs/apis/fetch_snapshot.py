"""FetchSnapshot (key 59): a KRaft replica reads a snapshot of the metadata log.

Layout: FetchSnapshotRequest.json and FetchSnapshotResponse.json of Apache Kafka; KIP-630, KIP-853.
"""

from barnabas.specs.declaration import (
    Array,
    Int16,
    Int32,
    Int64,
    NullableString,
    Records,
    String,
    Struct,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import QuorumNodeEndpoint

FetchSnapshot = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "cluster_id" / NullableString.tag(0).default(None),
        "replica_id" / Int32.default(-1),
        "max_bytes"  / Int32.default(2**31 - 1),
        "topics"     / Array(
            "name"       / String,
            "partitions" / Array(
                "partition"            / Int32,
                "current_leader_epoch" / Int32,
                "snapshot_id"          / Struct(
                    "end_offset" / Int64,
                    "epoch"      / Int32,
                ),
                "position"             / Int64,
                "replica_directory_id" / Uuid.since(1).tag(0),
            ),
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "topics"           / Array(
            "name"       / String,
            "partitions" / Array(
                "index"             / Int32,
                "error_code"        / Int16,
                "snapshot_id"       / Struct(
                    "end_offset" / Int64,
                    "epoch"      / Int32,
                ),
                "current_leader"    / Struct(
                    "leader_id"    / Int32,
                    "leader_epoch" / Int32,
                ).tag(0),
                "size"              / Int64,
                "position"          / Int64,
                "unaligned_records" / Records,
            ),
        ),
        "node_endpoints"   / Array(QuorumNodeEndpoint).since(1).tag(0),
    ),
)
