"""BrokerRegistration (key 62): a broker registers with the KRaft controller.

Layout: BrokerRegistrationRequest.json and BrokerRegistrationResponse.json of Apache Kafka; KIP-631.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    UInt16,
    Uuid,
)
from barnabas.specs.message import Api, Message

BrokerRegistration = Api(
    62,
    "BrokerRegistration",
    versions=(0, 4),
    flexible=0,
    request=Message(
        "broker_id"              / Int32,
        "cluster_id"             / String,
        "incarnation_id"         / Uuid,
        "listeners"              / Array(
            "name"              / String,
            "host"              / String,
            "port"              / UInt16,
            "security_protocol" / Int16,
        ),
        "features"               / Array(
            "name"                  / String,
            "min_supported_version" / Int16,
            "max_supported_version" / Int16,
        ),
        "rack"                   / NullableString,
        "is_migrating_zk_broker" / Bool.since(1),
        "log_dirs"               / Array(Uuid).since(2),
        "previous_broker_epoch"  / Int64.since(3).default(-1),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "broker_epoch"     / Int64.default(-1),
    ),
)
