"""InitializeShareGroupState (key 83): a group coordinator creates share-partition state.

Layout: InitializeShareGroupStateRequest.json and InitializeShareGroupStateResponse.json of Apache
Kafka; KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

InitializeShareGroupState = Api(
    83,
    "InitializeShareGroupState",
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"    / Int32,
                "state_epoch"  / Int32,
                "start_offset" / Int64,
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
            ),
        ),
    ),
)
