"""WriteShareGroupState (key 85): a share-partition leader stores its state.

Layout: WriteShareGroupStateRequest.json and WriteShareGroupStateResponse.json of Apache Kafka;
KIP-932.
"""

from barnabas.specs.declaration import Array, Int32, Int64, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import StateBatch, StateResult

WriteShareGroupState = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"               / Int32,
                "state_epoch"             / Int32,
                "leader_epoch"            / Int32,
                "start_offset"            / Int64,
                "delivery_complete_count" / Int32.since(1).default(-1),
                "state_batches"           / Array(StateBatch),
            ),
        ),
    ),
    response=Message(
        "results" / Array(StateResult),
    ),
)
