"""ListConfigResources (key 74): an admin lists resources with a configuration; v0: of client metrics.

Layout: ListConfigResourcesRequest.json and ListConfigResourcesResponse.json of Apache Kafka;
KIP-714, KIP-1142.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, String
from barnabas.specs.message import Api, Message

ListConfigResources = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "resource_types" / Array(Int8).since(1),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "config_resources" / Array(
            "resource_name" / String,
            "resource_type" / Int8.since(1).default(16),
        ),
    ),
)
