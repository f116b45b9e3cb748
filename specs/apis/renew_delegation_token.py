"""RenewDelegationToken (key 39): prolongs a delegation token.

Layout: RenewDelegationTokenRequest.json and RenewDelegationTokenResponse.json of Apache Kafka;
KIP-48.
"""

from barnabas.specs.declaration import Bytes, Int16, Int32, Int64
from barnabas.specs.message import Api, Message

RenewDelegationToken = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "hmac"            / Bytes,
        "renew_period_ms" / Int64,
    ),
    response=Message(
        "error_code"          / Int16,
        "expiry_timestamp_ms" / Int64,
        "throttle_time_ms"    / Int32,
    ),
)
