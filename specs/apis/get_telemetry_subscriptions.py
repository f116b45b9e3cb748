"""GetTelemetrySubscriptions (key 71): a client asks which metrics the broker wants pushed.

Layout: GetTelemetrySubscriptionsRequest.json and GetTelemetrySubscriptionsResponse.json of Apache
Kafka; KIP-714.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, String, Uuid
from barnabas.specs.message import Api, Message

GetTelemetrySubscriptions = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "client_instance_id" / Uuid,
    ),
    response=Message(
        "throttle_time_ms"           / Int32,
        "error_code"                 / Int16,
        "client_instance_id"         / Uuid,
        "subscription_id"            / Int32,
        "accepted_compression_types" / Array(Int8),
        "push_interval_ms"           / Int32,
        "telemetry_max_bytes"        / Int32,
        "delta_temporality"          / Bool,
        "requested_metrics"          / Array(String),
    ),
)
