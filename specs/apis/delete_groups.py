"""DeleteGroups (key 42): an admin deletes groups without members.

Layout: DeleteGroupsRequest.json and DeleteGroupsResponse.json of Apache Kafka; KIP-229.
"""

from barnabas.specs.declaration import Array, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DeleteGroups = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "groups_names" / Array(String),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "group_id"      / String,
            "error_code"    / Int16,
            "error_message" / NullableString.since(3).default(None),
        ),
    ),
)
