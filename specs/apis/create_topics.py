"""CreateTopics (key 19): an admin creates topics.

Layout: CreateTopicsRequest.json and CreateTopicsResponse.json of Apache Kafka.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

CreateTopics = Api(
    versions=(0, 7),
    flexible=5,
    request=Message(
        "topics"        / Array(
            "name"               / String,
            "num_partitions"     / Int32,
            "replication_factor" / Int16,
            "assignments"        / Array(
                "partition_index" / Int32,
                "broker_ids"      / Array(Int32),
            ),
            "configs"            / Array(
                "name"  / String,
                "value" / NullableString,
            ),
        ),
        "timeout_ms"    / Int32.default(60000),
        "validate_only" / Bool.since(1),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(2),
        "topics"           / Array(
            "name"                    / String,
            "topic_id"                / Uuid.since(7),
            "error_code"              / Int16,
            "error_message"           / NullableString.since(1),
            "topic_config_error_code" / Int16.since(5).tag(0),
            "num_partitions"          / Int32.since(5).default(-1),
            "replication_factor"      / Int16.since(5).default(-1),
            "configs"                 / Array(
                "name"          / String,
                "value"         / NullableString,
                "read_only"     / Bool,
                "config_source" / Int8.default(-1),
                "is_sensitive"  / Bool,
            ).since(5).nullable(),
        ),
    ),
)
