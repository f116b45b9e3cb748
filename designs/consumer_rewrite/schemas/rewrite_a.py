"""Draft A of the consumer rewrite: FindCoordinator, JoinGroup, OffsetCommit; coordinators have no host.

Document: the first versions of the page Kafka 0.9 Consumer Rewrite Design (Apache wiki, page ids
38571844 and 38572009). Each code block there begins with Version and CorrelationId: the headers.
"""

from __future__ import annotations

import functools
from typing import Final

from barnabas.designs.consumer_rewrite.schemas.errors import REWRITE_ERRORS
from barnabas.specs.declaration import FOREVER, Array, Int16, Int32, Int64, String, Struct
from barnabas.specs.dialects.dialect import Dialect, DialectApi
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.message import Api, Message

# fmt: off
_REQUEST_HEADER: Final = Message(
    "api_key"        / Int16,
    "version"        / Int16,
    "correlation_id" / Int64,
).of("RewriteRequestHeader", (0, 0), FOREVER)

_RESPONSE_HEADER: Final = Message(
    "version"        / Int16,
    "correlation_id" / Int64,
).of("RewriteResponseHeader", (0, 0), FOREVER)

rewrite = functools.partial(
    Dialect,
    request_header=_REQUEST_HEADER,
    response_header=_RESPONSE_HEADER,
    key_field="api_key",
    version_field="version",
    kafka_apis=frozenset((PRODUCE, FETCH, LIST_OFFSETS, METADATA)),
    reconstructed=("request_header.api_key",),
    because="No block of the page says what kind of request it is. Kafka 0.7 and 0.8 write an int16 for that "
            "in front of every request, and 0.8's request classes begin behind it, with their version, as "
            "these blocks do. The keys are those that Kafka gave to APIs of that purpose later; the version "
            "is 0.",
)
"""A draft with the headers of drafts A to C."""

TopicAndPartition: Final = Struct(
    "topic"     / String,
    "partition" / Int32,
)
"""Kafka 0.8's class of that name."""

FindCoordinator = Api(
    10, "FindCoordinator", versions=(0, 0),
    request=Message(
        "client_id" / String,
        "group_id"  / String,
    ),
    response=Message("coordinator_id" / Int16),
)

JoinGroup = Api(
    11, "JoinGroup", versions=(0, 0),
    request=Message(
        "group_id"        / String,
        "consumer_addr"   / String,
        "session_timeout" / Int64,  # without a unit
        "subscribing"     / Array(String),
    ),
    response=Message(
        "error_code"        / Int16,
        "generation"        / Int16,
        "group_id"          / String,
        "consumer_id"       / String,
        "partitions_to_own" / Array(TopicAndPartition),
    ),
)

OffsetCommit = Api(
    8, "OffsetCommit", versions=(0, 0),
    request=Message(
        "group_id"    / String,
        "consumer_id" / String,
        "generation"  / Int16,
        "offsets"     / Array(
            "topic"     / String,
            "partition" / Int32,
            "offset"    / Int64,
        ),
    ),
    response=Message("error_code" / Int16),
)

REWRITE_A: Final = rewrite(
    name="rewrite-a",
    number=2,
    title="Consumer rewrite, draft A",
    document="Kafka 0.9 Consumer Rewrite Design, first versions (page ids 38571844, 38572009)",
    errors=REWRITE_ERRORS,
    apis=(
        DialectApi(
            FindCoordinator, "consumer", "broker",
            source="the page, FindCoordinatorRequest and FindCoordinatorResponse",
            reconstructed=("key", "version"),
        ),
        DialectApi(
            JoinGroup, "consumer", "coordinator",
            source="the page, JoinGroupRequest and JoinGroupResponse",
            reconstructed=("key", "version", "response.partitions_to_own"),
            because="The page says [<TopicAndPartition>]; Kafka 0.8's class of that name has a topic and "
                    "a partition, written elsewhere as a string and an int32.",
        ),
        DialectApi(
            OffsetCommit, "consumer", "coordinator",
            source="the page, OffsetCommitRequest",
            reconstructed=("key", "version", "request.offsets", "response"),
            because="The page says Offsets and no more: a topic, a partition and an int64 are the least. "
                    "No block gives the response: an error code is all that the design needs.",
        ),
    ),
)
