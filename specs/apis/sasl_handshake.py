"""SaslHandshake (key 17): a client names its SASL mechanism.

Layout: SaslHandshakeRequest.json and SaslHandshakeResponse.json of Apache Kafka; v0 is followed by
raw tokens, v1 by SaslAuthenticate (KIP-152).
"""

from barnabas.specs.declaration import Array, Int16, String
from barnabas.specs.message import Api, Message

SaslHandshake = Api(
    versions=(0, 1),
    request=Message(
        "mechanism" / String,
    ),
    response=Message(
        "error_code" / Int16,
        "mechanisms" / Array(String),
    ),
)
