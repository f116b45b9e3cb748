"""InitProducerId (key 22): an idempotent or transactional producer asks for its id and epoch.

Layout: InitProducerIdRequest.json and InitProducerIdResponse.json of Apache Kafka; KIP-98, KIP-360;
two-phase commit from v6 (KIP-939), which no release up to 4.4 has made final.
"""

from barnabas.specs.declaration import Bool, Int16, Int32, Int64, NullableString
from barnabas.specs.message import Api, Message

InitProducerId = Api(
    versions=(0, 6),
    unstable=6,
    flexible=2,
    request=Message(
        "transactional_id"       / NullableString,
        "transaction_timeout_ms" / Int32,
        "producer_id"            / Int64.since(3).default(-1),
        "producer_epoch"         / Int16.since(3).default(-1),
        "enable2_pc"             / Bool.since(6),
        "keep_prepared_txn"      / Bool.since(6),
    ),
    response=Message(
        "throttle_time_ms"           / Int32,
        "error_code"                 / Int16,
        "producer_id"                / Int64.default(-1),
        "producer_epoch"             / Int16,
        "ongoing_txn_producer_id"    / Int64.since(6).default(-1),
        "ongoing_txn_producer_epoch" / Int16.since(6).default(-1),
    ),
)
