"""Draft B of the consumer rewrite: ConsumerMetadata with the coordinator's address, and Heartbeat.

Document: later versions of the page Kafka 0.9 Consumer Rewrite Design (Apache wiki, page id
40510091; versions 38 and 39 of 40510090), section Request formats.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.consumer_rewrite.schemas.errors import REWRITE_ERRORS
from barnabas.designs.consumer_rewrite.schemas.rewrite_a import TopicAndPartition, rewrite
from barnabas.specs.declaration import FOREVER, Array, Int16, Int32, Int64, String, Struct
from barnabas.specs.dialects.dialect import DialectApi
from barnabas.specs.message import Api, Message

# fmt: off
METADATA_RESPONSE_HEADER: Final = Message("correlation_id" / Int64).of(
    "ConsumerMetadataResponseHeader", (0, 0), FOREVER
)
"""The page gives this one response no Version."""

Broker: Final = Struct(
    "node_id" / Int32,
    "host"    / String,
    "port"    / Int32,
)
"""Kafka 0.8's class of that name."""

ConsumerMetadata = Api(
    10, "ConsumerMetadata", versions=(0, 0),
    request=Message(
        "client_id" / String,
        "group_id"  / String,
    ),
    response=Message(
        "error_code"    / Int16,
        "coordinator"   / Broker,
        "generation_id" / Int64,
    ),
)

JoinGroup = Api(
    11, "JoinGroup", versions=(0, 0),
    request=Message(
        "group_id"        / String,
        "consumer_host"   / String,
        "session_timeout" / Int64,  # milliseconds
        "topics"          / Array(String),
    ),
    response=Message(
        "error_code"        / Int16,
        "generation_id"     / Int16,
        "group_id"          / String,
        "consumer_id"       / String,
        "partitions_to_own" / Array(TopicAndPartition),
    ),
)

Heartbeat = Api(
    12, "Heartbeat", versions=(0, 0),
    request=Message(
        "group_id"    / String,
        "consumer_id" / String,
    ),
    response=Message(
        "group_id"    / String,
        "consumer_id" / String,
        "error_code"  / Int16,
    ),
)

REWRITE_B: Final = rewrite(
    name="rewrite-b",
    number=3,
    title="Consumer rewrite, draft B",
    document="Kafka 0.9 Consumer Rewrite Design, later versions (page ids 40510090, 40510091)",
    errors=REWRITE_ERRORS,
    own_response_headers=(("ConsumerMetadata", METADATA_RESPONSE_HEADER),),
    apis=(
        DialectApi(
            ConsumerMetadata, "consumer", "broker",
            source="the page, ConsumerMetadataRequest and ConsumerMetadataResponse",
            reconstructed=("key", "version", "response.coordinator"),
            because="The page says Broker; Kafka 0.8's class of that name writes an int32 id, the host and "
                    "an int32 port.",
        ),
        DialectApi(
            JoinGroup, "consumer", "coordinator",
            source="the page, JoinGroupRequest and JoinGroupResponse",
            reconstructed=("key", "version", "response.partitions_to_own"),
            because="The page says [TopicAndPartition]; Kafka 0.8's class of that name has a topic and a "
                    "partition, written elsewhere as a string and an int32.",
        ),
        DialectApi(
            Heartbeat, "consumer", "coordinator",
            source="the page, HeartbeatRequest",
            reconstructed=("key", "version", "response"),
            because="The response of these versions is not known: the fields are those that a later one "
                    "(page id 40512072, version 76) gives, whose header is another.",
        ),
    ),
)
