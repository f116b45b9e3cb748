"""AlterConfigs (key 33): an admin replaces the whole configuration of a resource.

Layout: AlterConfigsRequest.json and AlterConfigsResponse.json of Apache Kafka; KIP-133.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

AlterConfigs = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "resources"     / Array(
            "resource_type" / Int8,
            "resource_name" / String,
            "configs"       / Array(
                "name"  / String,
                "value" / NullableString,
            ),
        ),
        "validate_only" / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "responses"        / Array(
            "error_code"    / Int16,
            "error_message" / NullableString,
            "resource_type" / Int8,
            "resource_name" / String,
        ),
    ),
)
