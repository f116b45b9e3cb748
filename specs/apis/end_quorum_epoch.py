"""EndQuorumEpoch (key 54): a KRaft leader resigns.

Layout: EndQuorumEpochRequest.json and EndQuorumEpochResponse.json of Apache Kafka; KIP-595,
KIP-853; v0 of 2.7 had one more field.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Listener, QuorumNodeEndpoint, QuorumTopic

EndQuorumEpoch = Api(
    versions=(0, 1),
    flexible=1,
    request=Message(
        "cluster_id"       / NullableString.default(None),
        "topics"           / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index"      / Int32,
                "replica_id"           / Int32.until(0).releases(until="2.7"),
                "leader_id"            / Int32,
                "leader_epoch"         / Int32,
                "preferred_successors" / Array(Int32).until(0),
                "preferred_candidates" / Array(
                    "candidate_id"           / Int32,
                    "candidate_directory_id" / Uuid,
                ).since(1),
            ),
        ),
        "leader_endpoints" / Array(Listener).since(1),
    ),
    response=Message(
        "error_code"     / Int16,
        "topics"         / Array(QuorumTopic),
        "node_endpoints" / Array(QuorumNodeEndpoint).since(1).tag(0),
    ),
)
