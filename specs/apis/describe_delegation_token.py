"""DescribeDelegationToken (key 41): lists delegation tokens.

Layout: DescribeDelegationTokenRequest.json and DescribeDelegationTokenResponse.json of Apache
Kafka; KIP-48.
"""

from barnabas.specs.declaration import Array, Bytes, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

DescribeDelegationToken = Api(
    versions=(0, 3),
    flexible=2,
    request=Message(
        "owners" / Array(
            "principal_type" / String,
            "principal_name" / String,
        ).nullable(),
    ),
    response=Message(
        "error_code"       / Int16,
        "tokens"           / Array(
            "principal_type"                 / String,
            "principal_name"                 / String,
            "token_requester_principal_type" / String.since(3),
            "token_requester_principal_name" / String.since(3),
            "issue_timestamp"                / Int64,
            "expiry_timestamp"               / Int64,
            "max_timestamp"                  / Int64,
            "token_id"                       / String,
            "hmac"                           / Bytes,
            "renewers"                       / Array(
                "principal_type" / String,
                "principal_name" / String,
            ),
        ),
        "throttle_time_ms" / Int32,
    ),
)
