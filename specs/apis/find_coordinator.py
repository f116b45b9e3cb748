"""FindCoordinator (key 10): asks which broker coordinates a group, a transaction or a share group.

Layout: FindCoordinatorRequest.json and FindCoordinatorResponse.json of Apache Kafka; several keys
at once from v4 (KIP-699).
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

FindCoordinator = Api(
    versions=(0, 6),
    flexible=3,
    request=Message(
        "key"              / String.until(3),
        "key_type"         / Int8.since(1),
        "coordinator_keys" / Array(String).since(4),
    ),
    response=Message(
        "throttle_time_ms" / Int32.since(1),
        "error_code"       / Int16.until(3),
        "error_message"    / NullableString.since(1).until(3),
        "node_id"          / Int32.until(3),
        "host"             / String.until(3),
        "port"             / Int32.until(3),
        "coordinators"     / Array(
            "key"           / String,
            "node_id"       / Int32,
            "host"          / String,
            "port"          / Int32,
            "error_code"    / Int16,
            "error_message" / NullableString,
        ).since(4),
    ),
)
