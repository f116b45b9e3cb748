"""Wrong answers about frames, produce and fetch."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import (
    Wrong,
    other_correlation_id,
    with_fields,
)

_PRODUCED: Final = "responses[0].partition_responses[0]"
_FETCHED: Final = "responses[0].partitions[0]"

WRONG: Final[dict[str, Wrong]] = {
    "produce/base-offset": with_fields("Produce", 1, {f"{_PRODUCED}.base_offset": 0}),
    "produce/message-too-large": with_fields("Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}),
    "produce/bad-crc": with_fields("Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}),
    "produce/acks-zero": Wrong("ApiVersions", 0, other_correlation_id),
    "fetch/inside-batch": with_fields("Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/beyond-end": with_fields("Fetch", 0, {f"{_FETCHED}.error_code": "NONE"}),
    "fetch/woken": with_fields("Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/watermarks": with_fields("Fetch", 0, {f"{_FETCHED}.high_watermark": -1}),
}
