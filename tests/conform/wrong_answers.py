"""For each check an answer that violates its requirement, made of the recorded right one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from barnabas.conform.operations import Silence
from barnabas.conform.recorded import Answer
from tests.conform.recordings import answered, with_fields


def _closed(frame: bytes, version: int) -> None:
    return None


def _silence(frame: bytes, version: int) -> Silence:
    return Silence()


def _other_correlation_id(frame: bytes, version: int) -> bytes:
    return b"\0\0\0\x63" + frame[4:]


_PRODUCED: Final = "responses[0].partition_responses[0]"
_FETCHED: Final = "responses[0].partitions[0]"

WRONG: Final[dict[str, Callable[[], Answer]]] = {
    "frame/size-negative": partial(answered, "ApiVersions", 0, _closed),
    "frame/unknown-api-key": partial(answered, "ApiVersions", 0, _closed),
    "frame/two-in-one-segment": partial(answered, "Metadata", 0, _silence),
    "frame/correlation-id": partial(answered, "ApiVersions", 1, _other_correlation_id),
    "produce/base-offset": partial(with_fields, "Produce", 1, {f"{_PRODUCED}.base_offset": 0}),
    "produce/message-too-large": partial(
        with_fields, "Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}
    ),
    "produce/bad-crc": partial(with_fields, "Produce", 0, {f"{_PRODUCED}.error_code": "NONE"}),
    "produce/acks-zero": partial(answered, "ApiVersions", 0, _other_correlation_id),
    "fetch/inside-batch": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/beyond-end": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.error_code": "NONE"}),
    "fetch/woken": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.records": b""}),
    "fetch/watermarks": partial(with_fields, "Fetch", 0, {f"{_FETCHED}.high_watermark": -1}),
}
