"""DescribeUserScramCredentials (key 50): an admin lists which SCRAM credentials exist.

Layout: DescribeUserScramCredentialsRequest.json and DescribeUserScramCredentialsResponse.json of
Apache Kafka; KIP-554.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

DescribeUserScramCredentials = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "users" / Array(
            "name" / String,
        ).nullable(),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
        "results"          / Array(
            "user"             / String,
            "error_code"       / Int16,
            "error_message"    / NullableString,
            "credential_infos" / Array(
                "mechanism"  / Int8,
                "iterations" / Int32,
            ),
        ),
    ),
)
