"""DescribeAcls (key 29): an admin lists access rules by filter.

Layout: DescribeAclsRequest.json and DescribeAclsResponse.json of Apache Kafka; KIP-140.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DescribeAcls = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "resource_type_filter" / Int8,
        "resource_name_filter" / NullableString,
        "pattern_type_filter"  / Int8.since(1).default(3),
        "principal_filter"     / NullableString,
        "host_filter"          / NullableString,
        "operation"            / Int8,
        "permission_type"      / Int8,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
        "resources"        / Array(
            "resource_type" / Int8,
            "resource_name" / String,
            "pattern_type"  / Int8.since(1).default(3),
            "acls"          / Array(
                "principal"       / String,
                "host"            / String,
                "operation"       / Int8,
                "permission_type" / Int8,
            ),
        ),
    ),
)
