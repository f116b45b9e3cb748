"""InitializeShareGroupState (key 83): a group coordinator creates share-partition state.

Layout: InitializeShareGroupStateRequest.json and InitializeShareGroupStateResponse.json of Apache
Kafka; KIP-932.
"""

from barnabas.specs.declaration import Array, Int32, Int64, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import StateResult

InitializeShareGroupState = Api(
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
        "results" / Array(StateResult),
    ),
)
