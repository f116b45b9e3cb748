"""ExpireDelegationToken (key 40): ends a delegation token.

Layout: ExpireDelegationTokenRequest.json and ExpireDelegationTokenResponse.json of Apache Kafka;
KIP-48.
"""

from barnabas.specs.declaration import Bytes, Int16, Int32, Int64
from barnabas.specs.message import Api, Message

ExpireDelegationToken = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "hmac"                  / Bytes,
        "expiry_time_period_ms" / Int64,
    ),
    response=Message(
        "error_code"          / Int16,
        "expiry_timestamp_ms" / Int64,
        "throttle_time_ms"    / Int32,
    ),
)
