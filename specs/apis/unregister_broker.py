"""UnregisterBroker (key 64): an admin removes a broker's registration.

Layout: UnregisterBrokerRequest.json and UnregisterBrokerResponse.json of Apache Kafka; KIP-631.
"""

from barnabas.specs.declaration import Int16, Int32, NullableString
from barnabas.specs.message import Api, Message

UnregisterBroker = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "broker_id" / Int32,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "error_message"    / NullableString,
    ),
)
