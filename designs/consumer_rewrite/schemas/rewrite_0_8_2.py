"""The draft whose layouts reached 0.8.2: ConsumerMetadata, JoinGroup, Heartbeat and OffsetCommit v1.

Document: Kafka 0.9 Consumer Rewrite Design in its last version (obsolete since 0.9), section Request formats;
field names are those of 0.8.2's class Protocol, which has the same layouts. 0.8's own Produce, Fetch,
ListOffsets, Metadata and OffsetFetch v0 are in `specs.api`. All but JoinGroup were released with the same
bytes; 0.9's JoinGroup v0 has other fields.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.consumer_rewrite.phrases import PHRASES
from barnabas.designs.consumer_rewrite.schemas.errors import ILLEGAL_PROTOCOL_STATE, REWRITE_ERRORS
from barnabas.specs.declaration import FOREVER, Array, Int16, Int32, Int64, NullableString, String
from barnabas.specs.dialects.dialect import Dialect, DialectApi
from barnabas.specs.message import Api, Message

# fmt: off
REQUEST_HEADER: Final = Message(
    "api_key"        / Int16,
    "api_version"    / Int16,
    "correlation_id" / Int32,
    "client_id"      / NullableString.default(""),
).of("Rewrite082RequestHeader", (0, 0), FOREVER)

RESPONSE_HEADER: Final = Message("correlation_id" / Int32).of("Rewrite082ResponseHeader", (0, 0), FOREVER)

OffsetCommit = Api(
    8, "OffsetCommit", versions=(1, 1),
    request=Message(
        "group_id"            / String,
        "group_generation_id" / Int32,
        "consumer_id"         / String,
        "topics"              / Array(
            "topic"      / String,
            "partitions" / Array(
                "partition" / Int32,
                "offset"    / Int64,
                "timestamp" / Int64,
                "metadata"  / String,
            ),
        ),
    ),
    response=Message(
        "responses" / Array(
            "topic"               / String,
            "partition_responses" / Array(
                "partition"  / Int32,
                "error_code" / Int16,
            ),
        ),
    ),
)

ConsumerMetadata = Api(
    10, "ConsumerMetadata", versions=(0, 0),
    request=Message("group_id" / String),
    response=Message(
        "error_code" / Int16,
        "node_id"    / Int32,
        "host"       / String,
        "port"       / Int32,
    ),
)

JoinGroup = Api(
    11, "JoinGroup", versions=(0, 0),
    request=Message(
        "group_id"                      / String,
        "session_timeout"               / Int32,  # milliseconds
        "topics"                        / Array(String),
        "consumer_id"                   / String,  # empty until the coordinator has assigned one
        "partition_assignment_strategy" / String,
    ),
    response=Message(
        "error_code"          / Int16,
        "group_generation_id" / Int32,
        "consumer_id"         / String,
        "assigned_partitions" / Array(
            "topic"      / String,
            "partitions" / Array(Int32),
        ),
    ),
)

Heartbeat = Api(
    12, "Heartbeat", versions=(0, 0),
    request=Message(
        "group_id"            / String,
        "group_generation_id" / Int32,
        "consumer_id"         / String,
    ),
    response=Message("error_code" / Int16),
)

LeaveGroup = Api(
    13, "LeaveGroup", versions=(0, 0),
    request=Message(
        "group_id"    / String,
        "consumer_id" / String,
    ),
    response=Message("error_code" / Int16),
)

REWRITE_0_8_2: Final = Dialect(
    name="rewrite-0.8.2",
    number=5,
    title="Consumer rewrite, as its layouts reached 0.8.2",
    document="Kafka 0.9 Consumer Rewrite Design, last version; kafka-clients 0.8.2, class Protocol",
    request_header=REQUEST_HEADER,
    response_header=RESPONSE_HEADER,
    key_field="api_key",
    version_field="api_version",
    errors=(*REWRITE_ERRORS, ILLEGAL_PROTOCOL_STATE),
    phrases=PHRASES,
    checks="barnabas.designs.consumer_rewrite.checks:CHECKS",
    groups="barnabas.designs.consumer_rewrite.captured_groups:RewriteGroups",
    apis=(
        DialectApi(
            OffsetCommit, "consumer", "coordinator",
            source="the page, OffsetCommitRequest (v1); the response is v0's: class Protocol",
        ),
        DialectApi(
            ConsumerMetadata, "consumer", "broker",
            source="the page, ConsumerMetadataRequest; class Protocol of 0.8.2",
            addresses=("", "node_id"),
        ),
        DialectApi(
            JoinGroup, "consumer", "coordinator",
            source="the page, JoinGroupRequest and JoinGroupResponse; class Protocol of 0.8.2",
        ),
        DialectApi(
            Heartbeat, "consumer", "coordinator",
            source="the page, HeartbeatRequest and HeartbeatResponse; class Protocol of 0.8.2",
        ),
        DialectApi(
            LeaveGroup, "consumer", "coordinator",
            source="Kafka's trunk between 0.8.2 and 0.9 (KAFKA-2397), with consumers for members",
            reconstructed=("key",),
            because="0.9 released LeaveGroup with key 13, which the numbering before it left free.",
        ),
    ),
)
