"""DescribeClientQuotas (key 48): an admin reads client quotas by filter.

Layout: DescribeClientQuotasRequest.json and DescribeClientQuotasResponse.json of Apache Kafka;
KIP-546.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Float64,
    Int8,
    Int16,
    Int32,
    NullableString,
    String,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Entity

DescribeClientQuotas = Api(
    versions=(0, 1),
    flexible=1,
    request=Message(
        "components" / Array(
            "entity_type" / String,
            "match_type"  / Int8,
            "match"       / NullableString,
        ),
        "strict"     / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
        "entries"          / Array(
            "entity" / Array(Entity),
            "values" / Array(
                "key"   / String,
                "value" / Float64,
            ),
        ).nullable(),
    ),
)
