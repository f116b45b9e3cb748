"""UpdateFeatures (key 57): an admin raises or lowers feature levels.

Layout: UpdateFeaturesRequest.json and UpdateFeaturesResponse.json of Apache Kafka; KIP-584.
"""

from barnabas.specs.declaration import Array, Bool, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message

UpdateFeatures = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "timeout_ms"      / Int32.default(60000),
        "feature_updates" / Array(
            "feature"           / String,
            "max_version_level" / Int16,
            "allow_downgrade"   / Bool.until(0),
            "upgrade_type"      / Int8.since(1).default(1),
        ),
        "validate_only"   / Bool.since(1),
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
        "results"          / Array(
            "feature"       / String,
            "error_code"    / Int16,
            "error_message" / NullableString,
        ).until(1),
    ),
)
