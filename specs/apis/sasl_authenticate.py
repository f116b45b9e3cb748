"""SaslAuthenticate (key 36): carries one token of a SASL exchange.

Layout: SaslAuthenticateRequest.json and SaslAuthenticateResponse.json of Apache Kafka; KIP-152;
session lifetime from v1 (KIP-368).
"""

from barnabas.specs.declaration import Bytes, Int16, Int64, NullableString
from barnabas.specs.message import Api, Message

SaslAuthenticate = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "auth_bytes" / Bytes,
    ),
    response=Message(
        "error_code"          / Int16,
        "error_message"       / NullableString,
        "auth_bytes"          / Bytes,
        "session_lifetime_ms" / Int64.since(1),
    ),
)
