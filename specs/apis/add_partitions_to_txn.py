"""AddPartitionsToTxn (key 24): adds partitions to a transaction; from v4 brokers verify with it.

Layout: AddPartitionsToTxnRequest.json and AddPartitionsToTxnResponse.json of Apache Kafka; KIP-98,
KIP-890.
"""

from barnabas.specs.declaration import Array, Bool, Int16, Int32, Int64, String, Struct
from barnabas.specs.message import Api, Message

AddPartitionsToTxnTopic = Struct(
    "name"       / String,
    "partitions" / Array(Int32),
)

AddPartitionsToTxnPartitionResult = Struct(
    "partition_index"      / Int32,
    "partition_error_code" / Int16,
)

AddPartitionsToTxnTopicResult = Struct(
    "name"                 / String,
    "results_by_partition" / Array(AddPartitionsToTxnPartitionResult),
)

AddPartitionsToTxn = Api(
    versions=(0, 5),
    flexible=3,
    request=Message(
        "transactions"                  / Array(
            "transactional_id" / String,
            "producer_id"      / Int64,
            "producer_epoch"   / Int16,
            "verify_only"      / Bool,
            "topics"           / Array(AddPartitionsToTxnTopic),
        ).since(4),
        "v3_and_below_transactional_id" / String.until(3),
        "v3_and_below_producer_id"      / Int64.until(3),
        "v3_and_below_producer_epoch"   / Int16.until(3),
        "v3_and_below_topics"           / Array(AddPartitionsToTxnTopic).until(3),
    ),
    response=Message(
        "throttle_time_ms"              / Int32,
        "error_code"                    / Int16.since(4),
        "results_by_transaction"        / Array(
            "transactional_id" / String,
            "topic_results"    / Array(AddPartitionsToTxnTopicResult),
        ).since(4),
        "results_by_topic_v3_and_below" / Array(AddPartitionsToTxnTopicResult).until(3),
    ),
)
