"""CreateDelegationToken (key 38): asks for a delegation token.

Layout: CreateDelegationTokenRequest.json and CreateDelegationTokenResponse.json of Apache Kafka;
KIP-48, KIP-373.
"""

from barnabas.specs.declaration import Array, Bytes, Int16, Int32, Int64, NullableString, String
from barnabas.specs.message import Api, Message

CreateDelegationToken = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "owner_principal_type" / NullableString.since(3),
        "owner_principal_name" / NullableString.since(3),
        "renewers"             / Array(
            "principal_type" / String,
            "principal_name" / String,
        ),
        "max_lifetime_ms"      / Int64,
    ),
    response=Message(
        "error_code"                     / Int16,
        "principal_type"                 / String,
        "principal_name"                 / String,
        "token_requester_principal_type" / String.since(3),
        "token_requester_principal_name" / String.since(3),
        "issue_timestamp_ms"             / Int64,
        "expiry_timestamp_ms"            / Int64,
        "max_timestamp_ms"               / Int64,
        "token_id"                       / String,
        "hmac"                           / Bytes,
        "throttle_time_ms"               / Int32,
    ),
)
