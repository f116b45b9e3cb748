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
    Uuid,
)
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Feature, SecuredListener

BrokerRegistration = Api(
    versions=(0, 4),
    flexible=0,
    request=Message(
        "broker_id"              / Int32,
        "cluster_id"             / String,
        "incarnation_id"         / Uuid,
        "listeners"              / Array(SecuredListener),
        "features"               / Array(Feature),
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
