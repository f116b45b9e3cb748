"""ListTransactions (key 66): an admin lists transactions.

Layout: ListTransactionsRequest.json and ListTransactionsResponse.json of Apache Kafka; KIP-664.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String
from barnabas.specs.message import Api, Message

ListTransactions = Api(
    versions=(0, 2),
    flexible=0,
    request=Message(
        "state_filters"            / Array(String),
        "producer_id_filters"      / Array(Int64),
        "duration_filter"          / Int64.since(1).default(-1),
        "transactional_id_pattern" / NullableString.since(2).default(None),
    ),
    response=Message(
        "throttle_time_ms"      / Int32,
        "error_code"            / Int16,
        "unknown_state_filters" / Array(String),
        "transaction_states"    / Array(
            "transactional_id"  / String,
            "producer_id"       / Int64,
            "transaction_state" / String,
        ),
    ),
)
