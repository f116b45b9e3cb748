"""Records of __transaction_state: the state of each transaction (KIP-98, KIP-890).

Layout: TransactionLogKey.json and TransactionLogValue.json of Apache Kafka 4.3.1.
"""

from barnabas.specs.declaration import FOREVER, Array, Int8, Int16, Int32, Int64, String
from barnabas.specs.message import Message

# fmt: off

TransactionLogKey = Message(
    "transactional_id" / String,
).of("TransactionLogKey", (0, 0), FOREVER)

TransactionLogValue = Message(
    "producer_id"                          / Int64,
    "previous_producer_id"                 / Int64.since(1).tag(0).default(-1),
    "next_producer_id"                     / Int64.since(1).tag(1).default(-1),
    "producer_epoch"                       / Int16,
    "next_producer_epoch"                  / Int16.since(1).tag(3).default(-1),
    "transaction_timeout_ms"               / Int32,
    "transaction_status"                   / Int8,
    "transaction_partitions"               / Array(
        "topic"         / String,
        "partition_ids" / Array(Int32),
    ).nullable(),
    "transaction_last_update_timestamp_ms" / Int64,
    "transaction_start_timestamp_ms"       / Int64,
    "client_transaction_version"           / Int16.since(1).tag(2),
).of("TransactionLogValue", (0, 1), 1)
