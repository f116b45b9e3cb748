"""DescribeTransactions (key 65): an admin asks for the state of transactions.

Layout: DescribeTransactionsRequest.json and DescribeTransactionsResponse.json of Apache Kafka;
KIP-664.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopicPartitionsByName

DescribeTransactions = Api(
    versions=(0, 0),
    flexible=0,
    request=Message(
        "transactional_ids" / Array(String),
    ),
    response=Message(
        "throttle_time_ms"   / Int32,
        "transaction_states" / Array(
            "error_code"                / Int16,
            "transactional_id"          / String,
            "transaction_state"         / String,
            "transaction_timeout_ms"    / Int32,
            "transaction_start_time_ms" / Int64,
            "producer_id"               / Int64,
            "producer_epoch"            / Int16,
            "topics"                    / Array(TopicPartitionsByName),
        ),
    ),
)
