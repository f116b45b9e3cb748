"""DescribeConfigs (key 32): an admin reads the configuration of topics, brokers and others.

Layout: DescribeConfigsRequest.json and DescribeConfigsResponse.json of Apache Kafka; KIP-133,
KIP-226, KIP-569.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DescribeConfigs = Api(
    versions=(0, 4),
    flexible=4,
    request=Message(
        "resources"             / Array(
            "resource_type"      / Int8,
            "resource_name"      / String,
            "configuration_keys" / Array(String).nullable(),
        ),
        "include_synonyms"      / Bool.since(1),
        "include_documentation" / Bool.since(3),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "error_code"    / Int16,
            "error_message" / NullableString,
            "resource_type" / Int8,
            "resource_name" / String,
            "configs"       / Array(
                "name"          / String,
                "value"         / NullableString,
                "read_only"     / Bool,
                "is_default"    / Bool.until(0),
                "config_source" / Int8.since(1).default(-1),
                "is_sensitive"  / Bool,
                "synonyms"      / Array(
                    "name"   / String,
                    "value"  / NullableString,
                    "source" / Int8,
                ).since(1),
                "config_type"   / Int8.since(3),
                "documentation" / NullableString.since(3),
            ),
        ),
    ),
)
