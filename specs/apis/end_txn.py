"""EndTxn (key 26): commits or aborts a transaction.

Layout: EndTxnRequest.json and EndTxnResponse.json of Apache Kafka; KIP-98; epoch bumped in the
response from v5 (KIP-890).
"""

from barnabas.specs.declaration import Bool, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

EndTxn = Api(
    versions=(0, 5),
    flexible=3,
    request=Message(
        "transactional_id" / String,
        "producer_id"      / Int64,
        "producer_epoch"   / Int16,
        "committed"        / Bool,
    ),
    response=Message(
        "throttle_time_ms" / Int32,
        "error_code"       / Int16,
        "producer_id"      / Int64.since(5).default(-1),
        "producer_epoch"   / Int16.since(5).default(-1),
    ),
)
