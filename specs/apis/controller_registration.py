"""ControllerRegistration (key 70): a KRaft controller registers with the active one.

Layout: ControllerRegistrationRequest.json and ControllerRegistrationResponse.json of Apache Kafka;
KIP-919.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, NullableString, Uuid
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import Feature, SecuredListener

ControllerRegistration = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "controller_id"      / Int32,
        "incarnation_id"     / Uuid,
        "zk_migration_ready" / Bool,
        "listeners"          / Array(SecuredListener),
        "features"           / Array(Feature),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
    ),
)
