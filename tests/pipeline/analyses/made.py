"""Exchanges for analyses: a few lines that say when, who and what. Times are ms."""

from __future__ import annotations

from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.records import Record, build
from tests.captures.checks.given import exchange


def numbered(*exchanges: Exchange) -> list[Exchange]:
    """In the order in which they end, the requests of each connection numbered by their time."""
    for connection in {one.connection for one in exchanges}:
        mine = [one for one in exchanges if one.connection == connection]
        for ordinal, one in enumerate(sorted(mine, key=lambda one: one.ts)):
            one.ordinal = ordinal
    return sorted(exchanges, key=lambda one: one.ts + (one.latency_ms or 0) * 1e6)


def fetch(at: float, offset: int, last: int | None, **more: Any) -> Exchange:
    """A Fetch of orders[0]; `last` is the offset of the last record that came, or None."""
    data = bytearray()
    if last is not None:
        records = [Record(n, 1_700_000_000_000, None, b"v") for n in range(last - offset + 1)]
        data += build(records)
        data[:8] = offset.to_bytes(8)
    asked = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}
    came: dict[str, Any] = {
        "partition_index": 0,
        "error_code": 0,
        "high_watermark": 100,
        "records": bytes(data),
    }
    came |= {"last_stable_offset": 100, "aborted_transactions": None}
    request: dict[str, Any] = {"max_wait_ms": 500, "min_bytes": 1, "max_bytes": 1 << 20}
    request |= {"topics": [{"topic": "orders", "partitions": [asked]}]}
    request |= {"isolation_level": 0, "replica_id": -1}
    answer = {"throttle_time_ms": 0, "responses": [{"topic": "orders", "partitions": [came]}]}
    return exchange("Fetch", 4, request, answer, at=at, **more)


def commit(at: float, offset: int, *, error: int = 0, **more: Any) -> Exchange:
    """An OffsetCommit of orders[0] in the group g."""
    committed = {"partition_index": 0, "committed_offset": offset, "committed_metadata": ""}
    asked: dict[str, Any] = {"group_id": "g", "generation_id_or_member_epoch": 1}
    asked |= {"member_id": "m", "retention_time_ms": -1}
    asked |= {"topics": [{"name": "orders", "partitions": [committed]}]}
    partitions = [{"partition_index": 0, "error_code": error}]
    answer = {"topics": [{"name": "orders", "partitions": partitions}]}
    return exchange("OffsetCommit", 2, asked, answer, at=at, **more)


def metadata(at: float, *, error: int | None = 0, **more: Any) -> Exchange:
    """A Metadata of the topic orders; error None: it was never answered."""
    topic: dict[str, Any] = {
        "error_code": error,
        "name": "orders",
        "is_internal": False,
        "partitions": [],
    }
    answer = {"brokers": [], "controller_id": 1, "topics": [topic]}
    asked = {"topics": [{"name": "orders"}]}
    return exchange("Metadata", 1, asked, None if error is None else answer, at=at, **more)


def greeting(at: float, version: int, *, refused: bool = False, **more: Any) -> Exchange:
    """An ApiVersions request, and its answer; refused: it is too new, which is said as v0 has it."""
    software = {"client_software_name": "rd", "client_software_version": "2"} if version > 2 else {}
    answer: dict[str, Any] = {"error_code": 0, "api_keys": []}
    if version:
        answer["throttle_time_ms"] = 0
    found = exchange("ApiVersions", version, software, answer, at=at, **more)
    if refused:
        found.response_body = bytes.fromhex("0023 00000001 0012 0000 0003")
    return found
