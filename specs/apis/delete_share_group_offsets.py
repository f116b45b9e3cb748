"""DeleteShareGroupOffsets (key 92): an admin deletes the start offsets of a share group.

Layout: DeleteShareGroupOffsetsRequest.json and DeleteShareGroupOffsetsResponse.json of Apache
Kafka; KIP-932.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

DeleteShareGroupOffsets = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_name" / String,
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString.default(None),
        "responses"        / Array(
            "topic_name"    / String,
            "topic_id"      / Uuid,
            "error_code"    / Int16,
            "error_message" / NullableString.default(None),
        ),
    ),
)
