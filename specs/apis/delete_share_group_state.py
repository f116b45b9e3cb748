"""DeleteShareGroupState (key 86): a group coordinator deletes share-partition state.

Layout: DeleteShareGroupStateRequest.json and DeleteShareGroupStateResponse.json of Apache Kafka;
KIP-932.
"""

from barnabas.specs.declaration import Array, Int32, String, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import StateResult

DeleteShareGroupState = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition" / Int32,
            ),
        ),
    ),
    response=Message(
        "results" / Array(StateResult),
    ),
)
