"""ApiVersions (key 18): a client asks which APIs in which versions the broker has.

Layout: ApiVersionsRequest.json and ApiVersionsResponse.json of Apache Kafka; response header always
v0 (KIP-511); cluster and node id from v5.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, Int64, NullableString, String
from barnabas.specs.message import Api, Message

ApiVersions = Api(
    versions=(0, 5),
    flexible=3,
    request=Message(
        "client_software_name"    / String.since(3),
        "client_software_version" / String.since(3),
        "cluster_id"              / NullableString.since(5).default(None),
        "node_id"                 / Int32.since(5).default(-1),
    ),
    response=Message(
        "error_code"               / Int16,
        "api_keys"                 / Array(
            "api_key"     / Int16,
            "min_version" / Int16,
            "max_version" / Int16,
        ),
        "throttle_time_ms"         / Int32.since(1),
        "supported_features"       / Array(
            "name"        / String,
            "min_version" / Int16,
            "max_version" / Int16,
        ).since(3).tag(0),
        "finalized_features_epoch" / Int64.since(3).tag(1).default(-1),
        "finalized_features"       / Array(
            "name"              / String,
            "max_version_level" / Int16,
            "min_version_level" / Int16,
        ).since(3).tag(2),
        "zk_migration_ready"       / Bool.since(3).tag(3),
    ),
)
