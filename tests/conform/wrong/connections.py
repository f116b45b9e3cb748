"""Wrong answers about frames and connections."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import (
    Wrong,
    closed,
    other_correlation_id,
    silence,
    stays_open,
    with_fields,
)

FAILS: Final = Wrong("ApiVersions", 0, closed)
"""The first request on the check's own connection is not answered."""

OTHERS_FAIL: Final = Wrong("ApiVersions", -1, closed)
"""The request on another connection, which must not be harmed, is not answered."""

WRONG: Final[dict[str, Wrong]] = {
    "frame/slow-bytes": Wrong("ApiVersions", 0, silence),
    "frame/two-in-one-segment": Wrong("Metadata", 0, silence),
    "frame/half-then-rest": Wrong("ApiVersions", 3, closed),
    "frame/size-negative": stays_open(),
    "frame/size-zero": stays_open(),
    "frame/size-over-maximum": stays_open(),
    "frame/truncated-body": stays_open(),
    "frame/trailing-bytes": OTHERS_FAIL,
    "frame/unknown-api-key": stays_open(),
    "frame/negative-api-key": stays_open(),
    "frame/unsupported-version": stays_open(),
    "frame/negative-version": stays_open(),
    "frame/correlation-id": Wrong("ApiVersions", 1, other_correlation_id),
    "frame/client-id-null": FAILS,
    "frame/client-id-empty": FAILS,
    "frame/client-id-long": FAILS,
    "frame/client-id-not-utf-8": OTHERS_FAIL,
    "frame/client-id-cut-off": stays_open(),
    "frame/header-tags": Wrong("Metadata", 0, closed),
    "frame/body-tags": Wrong("Metadata", 0, closed),
    "frame/tag-twice": OTHERS_FAIL,
    "frame/varint-overlong": stays_open(),
    "frame/response-header": Wrong("Metadata", 0, lambda frame, version: frame[:4] + frame[5:]),
    "connection/responses-in-order": Wrong("ApiVersions", 0, other_correlation_id),
    "connection/many-in-flight": Wrong("ApiVersions", 30, other_correlation_id),
    "connection/many-connections": Wrong("ApiVersions", 40, closed),
    "connection/pipelined-produce": with_fields(
        "Produce", 1, {"responses[0].partition_responses[0].base_offset": 0}
    ),
    "connection/half-closed": OTHERS_FAIL,
    "connection/reset": OTHERS_FAIL,
    "connection/closed-within-request": OTHERS_FAIL,
    "connection/array-count-huge": stays_open(),
    "connection/array-count-negative": stays_open(),
    "connection/string-length-negative": stays_open(),
    "connection/string-too-long": stays_open(),
    "connection/records-length-huge": stays_open(),
    "connection/after-refusal": OTHERS_FAIL,
}
