"""Wrong answers of the checks of Fetch and of fetch sessions."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.specs.records import read
from tests.conform.recordings import Wrong, silence, with_body, with_fields
from tests.conform.wrong.changes import (
    every,
    fetched,
    produced,
    rebuilt,
    records,
    row,
    rows,
    shifted,
)

_REFUSED: Final = (
    "fetch/before-start",
    "fetch/beyond-end",
    "fetch/foreign-replica",
    "fetch/negative-offset",
    "fetch/not-leader",
    "fetch/unknown-leader-epoch",
    "fetch/unknown-partition",
    "fetch/unknown-topic",
)
"""Checks whose first Fetch must be refused."""

_EMPTY: Final = (
    "fetch/duplicate-partition",
    "fetch/first-batch-too-large",
    "fetch/inside-batch",
    "fetch/inside-compressed-batch",
    "fetch/inside-last-batch",
    "fetch/woken",
)
"""Checks whose first Fetch must return records."""

_NOTHING: Final = {
    "session/added": 1,
    "session/error-again": 2,
    "session/new-records": 1,
    "session/offset-changed": 2,
    "session/offset-kept": 1,
    "session/topic-again": 1,
    "session/woken": 1,
}
"""Checks of which a later Fetch must return a partition, and how many come before it."""

_SOMETHING: Final = {
    "session/forgotten": 2,
    "session/high-watermark": 2,
    "session/unchanged": 1,
}
"""Checks of which a later Fetch must not return a partition, and how many come before it."""


def _first_batch(data: bytes) -> bytes:
    return data[: next(iter(read(data))).size]


def _drop_partition(body: Any) -> None:
    body["responses"][0]["partitions"].pop()


def _no_partitions(body: Any) -> None:
    body["responses"] = []


def _add_partition(body: Any) -> None:
    partition = {
        "partition_index": 0,
        "error_code": 0,
        "high_watermark": 0,
        "last_stable_offset": 0,
        "log_start_offset": 0,
        "aborted_transactions": None,
        "preferred_read_replica": -1,
        "records": b"",
    }
    if body["responses"]:
        body["responses"][0]["partitions"].append(partition)
    else:
        body["responses"].append({"topic_id": uuid.UUID(int=1), "partitions": [partition]})


def _no_records(body: Any) -> None:
    for part in rows(body):
        part["records"] = b""


def _same_records(body: Any) -> None:
    first, second = rows(body)
    second["records"] = first["records"]


def _swapped_records(body: Any) -> None:
    first, second = rows(body)
    first["records"], second["records"] = second["records"], first["records"]


WRONG: Final[dict[str, Wrong]] = {
    **{name: fetched(0, error_code="NONE") for name in _REFUSED},
    **{name: fetched(0, records=b"") for name in _EMPTY},
    **{name: with_body("Fetch", nth, _no_partitions) for name, nth in _NOTHING.items()},
    **{name: with_body("Fetch", nth, _add_partition) for name, nth in _SOMETHING.items()},
    "fetch/after-move": produced(1, base_offset=0),
    "fetch/fenced-leader-epoch": fetched(0, error_code="NONE"),
    "fetch/from-follower": fetched(0, error_code="NOT_LEADER_OR_FOLLOWER"),
    "fetch/pipelined": fetched(1, records=b""),
    "fetch/several-waiting": fetched(3, records=b""),
    "fetch/waiting-blocks-no-other": Wrong("ApiVersions", 0, silence),
    "fetch/empty": fetched(0, high_watermark=-1),
    "fetch/middle-offset": fetched(1, records=b""),
    "fetch/woken-by-second-partition": with_body("Fetch", 0, _no_records),
    "fetch/several-batches": records(0, _first_batch),
    "fetch/next-offset": fetched(1, records=b""),
    "fetch/at-end": fetched(0, error_code="OFFSET_OUT_OF_RANGE"),
    "fetch/watermarks": fetched(0, high_watermark=-1),
    "fetch/read-uncommitted": fetched(
        0, aborted_transactions=[{"producer_id": 1, "first_offset": 0}]
    ),
    "fetch/several-partitions": with_body("Fetch", 0, _drop_partition),
    "fetch/no-topics": shifted("Fetch", 0, 5),
    "fetch/down-conversion": rebuilt(lambda found: found),
    "fetch/log-start-offset": fetched(1, log_start_offset=0),
    "fetch/error-without-records": fetched(0, high_watermark=7),
    "fetch/unknown-topic-id": fetched(0, error_code="UNKNOWN_TOPIC_OR_PARTITION"),
    "fetch/partial-failure": every("Fetch", error_code="UNKNOWN_TOPIC_OR_PARTITION"),
    "fetch/current-leader-epoch": fetched(0, error_code="FENCED_LEADER_EPOCH"),
    "fetch/diverging-epoch": fetched(0, error_code="OFFSET_OUT_OF_RANGE"),
    "fetch/max-wait": shifted("Fetch", 0, -0.7),
    "fetch/max-wait-zero": shifted("Fetch", 0, 5),
    "fetch/min-bytes-zero": shifted("Fetch", 0, 5),
    "fetch/min-bytes": shifted("Fetch", 0, -0.7),
    "fetch/min-bytes-reached": shifted("Fetch", 0, 6),
    "fetch/error-at-once": shifted("Fetch", 0, 5),
    "fetch/max-bytes": with_body("Fetch", 0, _same_records),
    "fetch/partition-max-bytes": records(0, lambda data: data * 2),
    "fetch/partition-order": with_body("Fetch", 1, _swapped_records),
    "fetch/empty-then-full": row("Fetch", 0, 1, records=b""),
    "session/full": with_body("Fetch", 0, _drop_partition),
    "session/none": with_fields("Fetch", 0, {"session_id": 5}),
    "session/wrong-epoch": with_fields("Fetch", 1, {"error_code": "NONE"}),
    "session/two": row("Fetch", 2, 0, partition_index=1),
    "session/unknown": with_fields("Fetch", 0, {"error_code": "NONE"}),
    "session/after-restart": with_fields("Fetch", 1, {"error_code": "NONE"}),
    "session/closed": with_fields("Fetch", 2, {"error_code": "NONE"}),
    "session/replaced": with_fields("Fetch", 2, {"error_code": "NONE"}),
    "session/other-connection": with_fields(
        "Fetch", 1, {"error_code": "FETCH_SESSION_ID_NOT_FOUND"}
    ),
    "fetch/just-beyond-end": fetched(1, error_code="NONE"),
    "fetch/start-of-log": fetched(1, error_code="NONE"),
    "fetch/limits-zero": fetched(0, records=b""),
    "session/epoch-again": with_fields("Fetch", 2, {"error_code": "NONE"}),
}
"""Check -> a response with a violation."""
