"""CreateAcls (key 30): an admin adds access rules.

Layout: CreateAclsRequest.json and CreateAclsResponse.json of Apache Kafka; KIP-140.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

CreateAcls = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "creations" / Array(
            "resource_type"         / Int8,
            "resource_name"         / String,
            "resource_pattern_type" / Int8.since(1).default(3),
            "principal"             / String,
            "host"                  / String,
            "operation"             / Int8,
            "permission_type"       / Int8,
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "error_code"    / Int16,
            "error_message" / NullableString,
        ),
    ),
)
