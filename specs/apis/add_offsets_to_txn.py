"""AddOffsetsToTxn (key 25): adds a group to a transaction, so that its offsets commit with it.

Layout: AddOffsetsToTxnRequest.json and AddOffsetsToTxnResponse.json of Apache Kafka; KIP-98.
"""

from barnabas.specs.declaration import Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

AddOffsetsToTxn = Api(
    versions=(0, 4),
    flexible=3,
    request=Message(
        "transactional_id" / String,
        "producer_id"      / Int64,
        "producer_epoch"   / Int16,
        "group_id"         / String,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
    ),
)
