"""CreatePartitions (key 37): an admin adds partitions to topics.

Layout: CreatePartitionsRequest.json and CreatePartitionsResponse.json of Apache Kafka; KIP-195.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

CreatePartitions = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "topics"        / Array(
            "name"        / String,
            "count"       / Int32,
            "assignments" / Array(
                "broker_ids" / Array(Int32),
            ).nullable(),
        ),
        "timeout_ms"    / Int32,
        "validate_only" / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "name"          / String,
            "error_code"    / Int16,
            "error_message" / NullableString.default(None),
        ),
    ),
)
