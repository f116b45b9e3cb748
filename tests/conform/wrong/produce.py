"""Wrong answers of the checks of Produce and of idempotent producers."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.conform.logs import batch
from barnabas.specs.records import Record, build
from tests.conform.recordings import (
    Wrong,
    closed,
    other_correlation_id,
    stays_open,
    with_body,
    with_fields,
)
from tests.conform.wrong.changes import (
    every,
    produced,
    rebuilt,
    records,
    records_in,
    row,
)

_REFUSED: Final = (
    "produce/acks-invalid",
    "produce/bad-crc",
    "produce/base-offset-in-batch",
    "produce/compacted-without-key",
    "produce/compression-unknown",
    "produce/control-batch",
    "produce/garbage-compressed",
    "produce/last-offset-delta",
    "produce/magic-one",
    "produce/magic-zero",
    "produce/message-too-large",
    "produce/no-records",
    "produce/not-leader",
    "produce/record-count",
    "produce/record-count-zero",
    "produce/timestamp-too-new",
    "produce/timestamp-too-old",
    "produce/truncated-batch",
    "produce/two-batches",
    "produce/unknown-partition",
    "produce/zstd-old-version",
    "idempotence/negative-sequence",
)
"""Checks whose first Produce must be refused."""

_REFUSED_AFTER: Final = {
    "idempotence/duplicate-too-old": 7,
    "idempotence/gap": 1,
    "idempotence/new-epoch-sequence": 1,
    "idempotence/old-epoch": 1,
    "idempotence/overlap": 1,
}
"""Checks one of whose later Produces must be refused, and how many come before it."""

_OUT_OF_ORDER: Final = {
    "idempotence/first-sequence": 0,
    "idempotence/new-epoch": 1,
    "idempotence/two-partitions": 1,
    "idempotence/wraps": 1,
    "idempotence/wraps-inside-batch": 2,
}
"""Checks one of whose Produces must be accepted, and how many come before it."""


def _drop_partition(body: Any) -> None:
    body["responses"][0]["partition_responses"].pop()


def _add_topic(body: Any) -> None:
    body["responses"].append({"topic_id": uuid.UUID(int=1), "partition_responses": []})


def _no_endpoints(body: Any) -> None:
    body["node_endpoints"] = []


def _no_record_errors(body: Any) -> None:
    body["responses"][0]["partition_responses"][0]["record_errors"] = []


def _other_leader_epoch(data: bytes) -> bytes:
    return data[:12] + b"\0\0\0\5" + data[16:]


def _second_stored(data: bytes) -> bytes:
    return data + batch("b", base_offset=1)


def _unchanged(found: list[Record]) -> list[Record]:
    return found


_UNCOMPRESSED: Final = rebuilt(_unchanged)


WRONG: Final[dict[str, Wrong]] = {
    **{name: produced(0, error_code="NONE") for name in _REFUSED},
    **{name: produced(nth, error_code="NONE") for name, nth in _REFUSED_AFTER.items()},
    **{
        name: produced(nth, error_code="OUT_OF_ORDER_SEQUENCE_NUMBER")
        for name, nth in _OUT_OF_ORDER.items()
    },
    "produce/concurrent": produced(1, base_offset=1),
    "produce/old-leader": produced(1, error_code="NONE"),
    "produce/to-follower": produced(0, error_code="NONE"),
    "produce/after-restart": produced(3, base_offset=0),
    "produce/base-offset": produced(1, base_offset=0),
    "produce/acks-zero": Wrong("ApiVersions", 0, other_correlation_id),
    "produce/acks-zero-error": stays_open(None),
    "produce/acks-one": produced(0, error_code="INVALID_REQUIRED_ACKS"),
    "produce/unknown-topic": with_fields("Metadata", 0, {"topics[0].error_code": "NONE"}),
    "produce/unknown-topic-id": produced(0, error_code="UNKNOWN_TOPIC_OR_PARTITION"),
    "produce/partial-failure": every("Produce", error_code="UNKNOWN_TOPIC_OR_PARTITION"),
    "produce/response-complete": with_body("Produce", 0, _drop_partition),
    "produce/several-partitions": row("Produce", 0, 1, base_offset=3),
    "produce/no-topics": with_body("Produce", 0, _add_topic),
    "produce/pipelined": produced(2, base_offset=4),
    "produce/log-start-offset": produced(1, log_start_offset=0),
    "produce/not-leader-endpoint": with_body("Produce", 0, _no_endpoints),
    "produce/null-records": Wrong("Fetch", 0, closed),
    "produce/leader-epoch-ignored": produced(0, error_code="NOT_LEADER_OR_FOLLOWER"),
    "produce/leader-epoch-set": records(0, _other_leader_epoch),
    "produce/record-errors": with_body("Produce", 0, _no_record_errors),
    "produce/create-time": produced(0, log_append_time_ms=1234),
    "produce/log-append-time": produced(0, log_append_time_ms=-1),
    "produce/compression-gzip": _UNCOMPRESSED,
    "produce/compression-snappy": _UNCOMPRESSED,
    "produce/compression-lz4": _UNCOMPRESSED,
    "produce/compression-zstd": produced(0, error_code="UNSUPPORTED_COMPRESSION_TYPE"),
    "produce/topic-compression": rebuilt(_unchanged, nth=1),
    "produce/topic-uncompressed": records(
        0, lambda data: build(records_in(data), compression="gzip")
    ),
    "idempotence/after-delete-records": produced(1, error_code="UNKNOWN_PRODUCER_ID"),
    "idempotence/after-restart": produced(1, error_code="UNKNOWN_PRODUCER_ID"),
    "idempotence/after-move": produced(1, base_offset=2),
    "idempotence/concurrent-duplicate": produced(1, error_code="DUPLICATE_SEQUENCE_NUMBER"),
    "idempotence/producer-id": every("InitProducerId", producer_id=7),
    "idempotence/producer-id-with-epoch": with_fields("InitProducerId", 0, {"error_code": "NONE"}),
    "idempotence/transactional-id-empty": with_fields("InitProducerId", 0, {"error_code": "NONE"}),
    "idempotence/in-sequence": produced(1, base_offset=0),
    "idempotence/duplicate": produced(1, error_code="DUPLICATE_SEQUENCE_NUMBER"),
    "idempotence/duplicate-of-five": produced(6, base_offset=6),
    "idempotence/duplicate-other-connection": produced(1, base_offset=1),
    "idempotence/one-id-twice": records(0, _second_stored),
    "idempotence/pipelined": produced(5, base_offset=5),
    "idempotence/acks-one": produced(1, base_offset=1),
    "idempotence/unknown-producer-id": produced(0, error_code="UNKNOWN_PRODUCER_ID"),
    "idempotence/ids-kept": _UNCOMPRESSED,
    "idempotence/describe-producers": with_fields(
        "DescribeProducers",
        0,
        {"topics[0].partitions[0].active_producers[0].last_sequence": 0},
    ),
    "idempotence/two-producers": produced(3, base_offset=4),
    "produce/message-size-limit": produced(0, error_code="MESSAGE_TOO_LARGE"),
    "produce/default-size-limit": produced(1, error_code="NONE"),
    "produce/compressed-size-limit": produced(0, error_code="MESSAGE_TOO_LARGE"),
}
"""Check -> a response with a violation."""
