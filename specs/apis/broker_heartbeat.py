"""BrokerHeartbeat (key 63): a broker shows the KRaft controller that it lives.

Layout: BrokerHeartbeatRequest.json and BrokerHeartbeatResponse.json of Apache Kafka; KIP-631.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, Int64, Uuid
from barnabas.specs.message import Api, Message

BrokerHeartbeat = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "broker_id"               / Int32,
        "broker_epoch"            / Int64.default(-1),
        "current_metadata_offset" / Int64,
        "want_fence"              / Bool,
        "want_shut_down"          / Bool,
        "offline_log_dirs"        / Array(Uuid).since(1).tag(0),
        "cordoned_log_dirs"       / Array(Uuid).since(2).nullable().tag(1).default(None),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "is_caught_up"     / Bool,
        "is_fenced"        / Bool.default(True),
        "should_shut_down" / Bool,
    ),
)
