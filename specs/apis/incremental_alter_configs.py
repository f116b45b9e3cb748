"""IncrementalAlterConfigs (key 44): an admin changes single settings of a resource.

Layout: IncrementalAlterConfigsRequest.json and IncrementalAlterConfigsResponse.json of Apache
Kafka; KIP-339.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

IncrementalAlterConfigs = Api(
    versions=(0, 1),
    flexible=1,
    request=Message(
        "resources"     / Array(
            "resource_type" / Int8,
            "resource_name" / String,
            "configs"       / Array(
                "name"             / String,
                "config_operation" / Int8,
                "value"            / NullableString,
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
