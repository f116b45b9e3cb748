"""Wrong answers about frames, produce and fetch."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.conform.recordings import (
    Wrong,
    answered,
    closed,
    other_correlation_id,
    silence,
    with_fields,
)

_PRODUCED: Final = "responses[0].partition_responses[0]"
_FETCHED: Final = "responses[0].partitions[0]"

WRONG: Final[dict[str, Wrong]] = {
    "frame/size-negative": partial(answered, "ApiVersions", 0, closed),
    "frame/unknown-api-key": partial(answered, "ApiVersions", 0, closed),
    "frame/two-in-one-segment": partial(answered, "Metadata", 0, silence),
    "frame/correlation-id": partial(answered, "ApiVersions", 1, other_correlation_id),
    "produce/base-offset": partial(with_fields, "Produce", 1, {f"{_PRODUCED}.base_offset": 0}),
    "produce/message-too-large": partial(
        with_fields, "Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}
    ),
    "produce/bad-crc": partial(with_fields, "Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}),
    "produce/acks-zero": partial(answered, "ApiVersions", 0, other_correlation_id),
    "fetch/inside-batch": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/beyond-end": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.error_code": "NONE"}),
    "fetch/woken": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/watermarks": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.high_watermark": -1}),
}
