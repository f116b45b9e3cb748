"""ReadShareGroupStateSummary (key 87): a group coordinator reads where share partitions start.

Layout: ReadShareGroupStateSummaryRequest.json and ReadShareGroupStateSummaryResponse.json of Apache
Kafka; KIP-932; the response v0 before 4.1 had no leader epoch.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, NullableString, String, Uuid
from barnabas.specs.message import Api, Message

ReadShareGroupStateSummary = Api(
    versions=(0, 1),
    flexible=0,
    request=Message(
        "group_id" / String,
        "topics"   / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"    / Int32,
                "leader_epoch" / Int32,
            ),
        ),
    ),
    response=Message(
        "results" / Array(
            "topic_id"   / Uuid,
            "partitions" / Array(
                "partition"               / Int32,
                "error_code"              / Int16,
                "error_message"           / NullableString.default(None),
                "state_epoch"             / Int32,
                "leader_epoch"            / Int32.releases(since="4.1"),
                "start_offset"            / Int64,
                "delivery_complete_count" / Int32.since(1).default(-1),
            ),
        ),
    ),
)
