"""AlterUserScramCredentials (key 51): an admin sets or deletes SCRAM credentials.

Layout: AlterUserScramCredentialsRequest.json and AlterUserScramCredentialsResponse.json of Apache
Kafka; KIP-554; carries secrets.
"""

from barnabas.specs.declaration import Array, Bytes, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

AlterUserScramCredentials = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "deletions"  / Array(
            "name"      / String,
            "mechanism" / Int8,
        ),
        "upsertions" / Array(
            "name"            / String,
            "mechanism"       / Int8,
            "iterations"      / Int32,
            "salt"            / Bytes,
            "salted_password" / Bytes,
        ),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "results"          / Array(
            "user"          / String,
            "error_code"    / Int16,
            "error_message" / NullableString,
        ),
    ),
)
