"""DescribeCluster (key 60): an admin asks for the brokers (or the controllers) and the cluster id.

Layout: DescribeClusterRequest.json and DescribeClusterResponse.json of Apache Kafka; KIP-700;
endpoint type from v1 (KIP-919), fenced brokers from v2.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DescribeCluster = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "include_cluster_authorized_operations" / Bool,
        "endpoint_type"                    / Int8.since(1).default(1),
        "include_fenced_brokers"           / Bool.since(2),
    ),
    response=Message(
        "throttle_time_ms"              / Int32,
        "error_code"                    / Int16,
        "error_message"                 / NullableString.default(None),
        "endpoint_type"                 / Int8.since(1).default(1),
        "cluster_id"                    / String,
        "controller_id"                 / Int32.default(-1),
        "brokers"                       / Array(
            "broker_id" / Int32,
            "host"      / String,
            "port"      / Int32,
            "rack"      / NullableString.default(None),
            "is_fenced" / Bool.since(2),
        ),
        "cluster_authorized_operations" / Int32.default(-2147483648),
    ),
)
