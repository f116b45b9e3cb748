"""BeginQuorumEpoch (key 53): a new KRaft leader announces itself.

Layout: BeginQuorumEpochRequest.json and BeginQuorumEpochResponse.json of Apache Kafka; KIP-595,
KIP-853.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Listener, QuorumNodeEndpoint, QuorumTopic

BeginQuorumEpoch = Api(
    versions=(0, 1),
    flexible=1,
    request=Message(
        "cluster_id"       / NullableString.default(None),
        "voter_id"         / Int32.since(1).default(-1),
        "topics"           / Array(
            "topic_name" / String,
            "partitions" / Array(
                "partition_index"    / Int32,
                "voter_directory_id" / Uuid.since(1),
                "leader_id"          / Int32,
                "leader_epoch"       / Int32,
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
