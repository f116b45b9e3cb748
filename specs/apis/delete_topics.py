"""DeleteTopics (key 20): an admin deletes topics.

Layout: DeleteTopicsRequest.json and DeleteTopicsResponse.json of Apache Kafka; by topic id from v6
(KIP-516).
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

DeleteTopics = Api(
    versions=(0, 6),
    flexible=4,
    request=Message(
        "topics"      / Array(
            "name"     / NullableString.default(None),
            "topic_id" / Uuid,
        ).since(6),
        "topic_names" / Array(String).until(5),
        "timeout_ms"  / Int32,
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "responses"        / Array(
            "name"          / String.nullable(since=6),
            "topic_id"      / Uuid.since(6),
            "error_code"    / Int16,
            "error_message" / NullableString.since(5).default(None),
        ),
    ),
)
