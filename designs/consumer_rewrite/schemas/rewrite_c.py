"""Draft C of the consumer rewrite: generations of 32 bits, and heartbeats that carry them.

Document: versions of the page Kafka 0.9 Consumer Rewrite Design (Apache wiki) with a
HeartbeatFrequency, section Request formats.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.consumer_rewrite.schemas.errors import (
    HEARTBEAT_FREQUENCY_TOO_HIGH,
    REWRITE_ERRORS,
)
from barnabas.designs.consumer_rewrite.schemas.rewrite_a import TopicAndPartition, rewrite
from barnabas.designs.consumer_rewrite.schemas.rewrite_b import Broker
from barnabas.specs.declaration import Array, Int16, Int32, String
from barnabas.specs.dialects.dialect import DialectApi
from barnabas.specs.message import Api, Message

# fmt: off
ConsumerMetadata = Api(
    10, "ConsumerMetadata", versions=(0, 0),
    request=Message("group_id" / String),
    response=Message(
        "error_code"  / Int16,
        "coordinator" / Broker,
    ),
)

JoinGroup = Api(
    11, "JoinGroup", versions=(0, 0),
    request=Message(
        "group_id"            / String,
        "consumer_host"       / String,
        "session_timeout"     / Int32,  # milliseconds
        "heartbeat_frequency" / Int16,  # how many heartbeats in a session timeout
        "topics"              / Array(String),
        "consumer_id"         / String,  # empty until the coordinator has assigned one
    ),
    response=Message(
        "error_code"          / Int16,
        "group_id"            / String,
        "group_generation_id" / Int32,
        "consumer_id"         / String,
        "partitions_to_own"   / Array(TopicAndPartition),
    ),
)

Heartbeat = Api(
    12, "Heartbeat", versions=(0, 0),
    request=Message(
        "group_id"            / String,
        "group_generation_id" / Int32,
        "consumer_id"         / String,
    ),
    response=Message(
        "group_id"    / String,
        "consumer_id" / String,
        "error_code"  / Int16,
    ),
)

REWRITE_C: Final = rewrite(
    name="rewrite-c",
    number=4,
    title="Consumer rewrite, draft C",
    document="Kafka 0.9 Consumer Rewrite Design, versions with a HeartbeatFrequency",
    errors=(*REWRITE_ERRORS, HEARTBEAT_FREQUENCY_TOO_HIGH),
    apis=(
        DialectApi(
            ConsumerMetadata, "consumer", "broker",
            source="the steps of the page name it; drafts B and 0.8.2 give a layout",
            reconstructed=("key", "version", "request", "response"),
            because="A consumer of this draft has to find its coordinator. The fields are those that the "
                    "page ends with; Broker is Kafka 0.8's class: an int32 id, the host, an int32 port.",
        ),
        DialectApi(
            JoinGroup, "consumer", "coordinator",
            source="the page, JoinGroupRequest and JoinGroupResponse",
            reconstructed=("key", "version", "response.partitions_to_own"),
            because="As in draft B: a topic and an int32 partition are what TopicAndPartition holds.",
        ),
        DialectApi(
            Heartbeat, "consumer", "coordinator",
            source="the page, HeartbeatRequest",
            reconstructed=("key", "version", "response"),
            because="The fields are those of the page's version 76 (page id 40512072), which has the "
                    "heartbeat frequency too, but a header with an int32 correlation id.",
        ),
    ),
)
