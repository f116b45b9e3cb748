"""ElectLeaders (key 43): an admin has leaders elected for partitions.

Layout: ElectLeadersRequest.json and ElectLeadersResponse.json of Apache Kafka; KIP-183, KIP-460.
"""

from barnabas.specs.declaration import Array, Int8, Int16, Int32, NullableString, String
from barnabas.specs.message import Api, Message
from barnabas.specs.structures import TopicPartitionsByName

ElectLeaders = Api(
    versions=(0, 2),
    flexible=2,
    request=Message(
        "election_type"    / Int8.since(1),
        "topic_partitions" / Array(TopicPartitionsByName).nullable(),
        "timeout_ms"       / Int32.default(60000),
    ),
    response=Message(
        "throttle_time_ms"         / Int32,
        "error_code"               / Int16.since(1),
        "replica_election_results" / Array(
            "topic"            / String,
            "partition_result" / Array(
                "partition_id"  / Int32,
                "error_code"    / Int16,
                "error_message" / NullableString,
            ),
        ),
    ),
)
