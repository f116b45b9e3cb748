"""PushTelemetry (key 72): a client pushes its metrics.

Layout: PushTelemetryRequest.json and PushTelemetryResponse.json of Apache Kafka; KIP-714.
"""

from barnabas.specs.declaration import Bool, Bytes, Int8, Int16, Int32, Uuid
from barnabas.specs.message import Api, Message

PushTelemetry = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "client_instance_id" / Uuid,
        "subscription_id"    / Int32,
        "terminating"        / Bool,
        "compression_type"   / Int8,
        "metrics"            / Bytes,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
    ),
)
