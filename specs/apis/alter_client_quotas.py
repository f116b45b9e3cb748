"""AlterClientQuotas (key 49): an admin changes client quotas.

Layout: AlterClientQuotasRequest.json and AlterClientQuotasResponse.json of Apache Kafka; KIP-546.
"""

from barnabas.specs.declaration import Array, Bool, Float64, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Entity

AlterClientQuotas = Api(
    versions=(0, 1),
    flexible=1,
    request=Message(
        "entries"       / Array(
            "entity" / Array(Entity),
            "ops"    / Array(
                "key"    / String,
                "value"  / Float64,
                "remove" / Bool,
            ),
        ),
        "validate_only" / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "entries"          / Array(
            "error_code"    / Int16,
            "error_message" / NullableString,
            "entity"        / Array(Entity),
        ),
    ),
)
