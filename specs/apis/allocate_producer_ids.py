"""AllocateProducerIds (key 67): a broker asks the controller for a block of producer ids.

Layout: AllocateProducerIdsRequest.json and AllocateProducerIdsResponse.json of Apache Kafka;
KIP-730.
"""

from barnabas.specs.declaration import Int16, Int32, Int64
from barnabas.specs.message import Api, Message

AllocateProducerIds = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "broker_id"    / Int32,
        "broker_epoch" / Int64.default(-1),
    ),
    response=Message(
        "throttle_time_ms"  / Int32,
        "error_code"        / Int16,
        "producer_id_start" / Int64,
        "producer_id_len"   / Int32,
    ),
)
