"""ReadShareGroupState (key 84): a share-partition leader reads its state.

Layout: ReadShareGroupStateRequest.json and ReadShareGroupStateResponse.json of Apache Kafka;
KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import StateBatch

ReadShareGroupState = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"    / Int32,
                "leader_epoch" / Int32,
            ),
        ),
    ),
    response=Message(
        "results" / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"     / Int32,
                "error_code"    / Int16,
                "error_message" / NullableString.default(None),
                "state_epoch"   / Int32,
                "start_offset"  / Int64,
                "state_batches" / Array(StateBatch),
            ),
        ),
    ),
)
