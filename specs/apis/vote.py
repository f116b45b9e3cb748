"""Vote (key 52): a KRaft voter asks for votes.

Layout: VoteRequest.json and VoteResponse.json of Apache Kafka; KIP-595; pre-vote from v2 (KIP-996).
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import QuorumNodeEndpoint

Vote = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "cluster_id" / NullableString.default(None),
        "voter_id"   / Int32.since(1).default(-1),
        "topics"     / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index"      / Int32,
                "replica_epoch"        / Int32,
                "replica_id"           / Int32,
                "replica_directory_id" / Uuid.since(1),
                "voter_directory_id"   / Uuid.since(1),
                "last_offset_epoch"    / Int32,
                "last_offset"          / Int64,
                "pre_vote"             / Bool.since(2),
            ),
        ),
    ),
    response=Message(
        "error_code"     / Int16,
        "topics"         / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index" / Int32,
                "error_code"      / Int16,
                "leader_id"       / Int32,
                "leader_epoch"    / Int32,
                "vote_granted"    / Bool,
            ),
        ),
        "node_endpoints" / Array(QuorumNodeEndpoint).since(1).tag(0),
    ),
)
