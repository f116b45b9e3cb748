"""Envelope (key 58): a broker forwards a client's request to the controller, with its principal.

Layout: EnvelopeRequest.json and EnvelopeResponse.json of Apache Kafka; KIP-590.
"""

from barnabas.specs.declaration import Bytes, Int16, NullableBytes
from barnabas.specs.message import Api, Message

Envelope = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "request_data"        / Bytes,
        "request_principal"   / NullableBytes,
        "client_host_address" / Bytes,
    ),
    response=Message(
        "response_data" / NullableBytes.default(None),
        "error_code"    / Int16,
    ),
)
