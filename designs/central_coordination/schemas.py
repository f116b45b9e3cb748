"""Central consumer coordination in 0.7's format: the coordinator sends requests, the consumer responds.

Document: Central Consumer Coordination (Apache wiki, page ids 29131273 and 29131292). A frame is an int32
size that does not count itself, then in a request an int16 type, in a response an int16 error code; there is
no version and no correlation id. A consumer requests ClusterMetadata from any broker, registers with the
coordinator, and after that only responds on that connection.

A list is preceded by an int16, which the document names separately: "num_brokers: number of brokers in the
following list".
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.central_coordination.phrases import PHRASES
from barnabas.specs.declaration import FOREVER, Array, Bool, Int16, Int32, Int64, String
from barnabas.specs.dialects.dialect import Dialect, DialectApi, DialectError
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE
from barnabas.specs.message import Api, Message

# fmt: off
AUTO_OFFSET_RESET: Final = ("smallest", "largest")
"""The values of RegisterConsumer's auto_offset_reset, for an offset out of range."""

REQUEST_HEADER: Final = Message("request_type_id" / Int16).of("CentralRequestHeader", (0, 0), FOREVER)

RESPONSE_HEADER: Final = Message("error_code" / Int16).of("CentralResponseHeader", (0, 0), FOREVER)

ERRORS: Final = (
    DialectError(-1, "Unknown", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(0, "NoError", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(1, "OffsetOutOfRange", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(2, "InvalidMessage", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(3, "WrongPartition", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(4, "InvalidFetchSize", "Kafka 0.7, kafka.common.ErrorMapping"),
    DialectError(5, "DuplicateConsumerId", "the first check of RegisterConsumer", ("name", "code")),
    DialectError(6, "SessionTimeoutTooLow", "the second check of RegisterConsumer", ("name", "code")),
)
"""0.7's codes, and the coordinator's two refusals of a registration: the document calls them 'an appropriate
error code', so they have the numbers after 0.7's."""

ClusterMetadata = Api(
    5, "ClusterMetadata", versions=(0, 0),
    request=Message(),
    response=Message(
        "coordinator_id" / Int32,
        "brokers_info"   / Array(  # follows num_brokers
            "id"   / Int32,
            "host" / String,
            "port" / Int32,
        ).counted(Int16),
    ),
)

RegisterConsumer = Api(
    6, "RegisterConsumer", versions=(0, 0),
    request=Message(
        "group_id"           / String,
        "consumer_id"        / String,
        "topic_count"        / String,  # topics with their number of streams, or a wildcard
        "auto_commit"        / Bool,
        "auto_offset_reset"  / String.default("largest"),  # spelt auto_offset_rest in the document
        "session_timeout_ms" / Int32,
    ),
    response=Message(),
)

Ping = Api(7, "Ping", versions=(0, 0), request=Message(), response=Message())

OFFSET_INFO: Final = Array(  # follows num_partition
    "topic"     / String,
    "partition" / String,  # 0.7 names a partition by broker and number: "0-1"
    "offset"    / Int64,
).counted(Int16)

StopFetcher = Api(
    8, "StopFetcher", versions=(0, 0),
    request=Message(),
    response=Message("offset_info" / OFFSET_INFO),
)

STOP_FETCHER_WITHOUT_OFFSETS: Final = Message().of(
    "StopFetcherResponseWithoutOffsets", (0, 0), FOREVER
)
"""The response of a consumer that registered with auto_commit false: it has no more than a header."""

StartFetcher = Api(
    9, "StartFetcher", versions=(0, 0),
    request=Message("offset_info" / OFFSET_INFO),
    response=Message(),
)


def stop_fetcher_response(*, auto_commit: bool) -> str:
    """Return the name of the StopFetcher response of a consumer, by its auto_commit.

    >>> stop_fetcher_response(auto_commit=False)
    'StopFetcherResponseWithoutOffsets'
    """
    return StopFetcher.response.name if auto_commit else STOP_FETCHER_WITHOUT_OFFSETS.name


CENTRAL_COORDINATION: Final = Dialect(
    name="central-coordination",
    number=1,
    title="Central consumer coordination, in 0.7's format",
    document="Central Consumer Coordination (page ids 29131273, 29131292)",
    request_header=REQUEST_HEADER,
    response_header=RESPONSE_HEADER,
    key_field="request_type_id",
    version_field=None,
    because="The document numbers no type. 0.7 has 0 to 4 (kafka.api.RequestKeys), so these have the "
            "numbers behind: one series on every connection, whoever asks.",
    errors=ERRORS,
    kafka_apis=frozenset((PRODUCE, FETCH, LIST_OFFSETS, METADATA)),
    registration=RegisterConsumer.name,
    phrases=PHRASES,
    lane_colors={
        "RegisterConsumer": "ConsumerGroupHeartbeat",
        "StopFetcher": "JoinGroup",
        "StartFetcher": "SyncGroup",
        "Ping": "Heartbeat",
    },
    pairing="barnabas.designs.central_coordination.pairing:OrderedPairing",
    checks="barnabas.designs.central_coordination.checks:CHECKS",
    groups="barnabas.designs.central_coordination.captured_groups:CentralGroups",
    apis=(
        DialectApi(
            ClusterMetadata, "consumer", "broker",
            source="the section on consumer startup: format of the ClusterMetadata response",
            reconstructed=("key", "request"),
            because="The request is to be compatible with 0.7's Produce and Fetch, which begin with size and "
                    "type; nothing else is needed to answer it.",
            addresses=("brokers_info.", "brokers_info.id"),
        ),
        DialectApi(
            RegisterConsumer, "consumer", "coordinator",
            source="the section RegisterConsumerRequest: format of request and response",
            reconstructed=("key", "request.auto_commit"),
            because="auto_commit is a boolean of no given size; one byte is Kafka's.",
        ),
        DialectApi(
            Ping, "coordinator", "consumer",
            source="the failure detection section names PingRequest and PingResponse",
            reconstructed=("key", "request", "response"),
            because="A ping says nothing but that it is there; a response has the error code of them all.",
        ),
        DialectApi(
            StopFetcher, "coordinator", "consumer",
            source="the rebalance section, stop-fetcher: format of the response",
            reconstructed=("key", "request"),
            because="The coordinator tells the consumer to stop everything, which needs no field.",
            other_responses=(STOP_FETCHER_WITHOUT_OFFSETS,),
        ),
        DialectApi(
            StartFetcher, "coordinator", "consumer",
            source="the rebalance section: new partition assignment along with the starting offset",
            reconstructed=("key", "request", "response"),
            because="An assignment with offsets is what StopFetcher's response gives: the same fields. The "
                    "consumer answers that its fetchers run again.",
        ),
    ),
)
