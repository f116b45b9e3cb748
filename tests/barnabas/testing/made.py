"""Exchanges as the log would tell of them, made up."""

from __future__ import annotations

import base64
import struct
from typing import Any

from barnabas.specs.records import Record, build
from barnabas.specs.registry import NAMES, key_of
from barnabas.testing import Exchange


def row(api: str, number: int = 0, **columns: Any) -> dict[str, Any]:
    """A line of the log: the `number`-th of a test."""
    found = {
        "ts": f"2026-01-01T00:00:{number:02}.000000Z",
        "connection": 1,
        "client_address": "127.0.0.1:5000",
        "client_id": "maker",
        "user": None,
        "broker": 1,
        "api": NAMES[key_of(api)],
        "key": key_of(api),
        "version": 5,
        "correlation_id": number,
        "request_size": 10,
        "response_size": 20,
        "latency_ms": 1.5,
        "broker_ms": 1.0,
        "error": "",
        "rules": [],
        "request": {},
        "response": {},
    }
    return {**found, **columns}


def exchange(api: str, number: int = 0, **columns: Any) -> Exchange:
    """One exchange."""
    return Exchange.of(row(api, number, **columns))


def batch(producer_id: int = -1, epoch: int = -1, sequence: int = -1, value: bytes = b"") -> str:
    """A batch of magic 2 as a Produce request has it: its header counts, the records do not."""
    head = struct.pack(
        ">qiibIhiqqqhii", 0, 49, 0, 2, 7, 0, 0, 0, 0, producer_id, epoch, sequence, 1
    )
    return base64.b64encode(head + value).decode()


def records(
    *texts: str, stamp: int = 0, keyed: bool = True, producer: int = -1, epoch: int = -1
) -> str:
    """A batch of records with these values, created at `stamp`; their keys are equal to their values."""
    made = [
        Record(n, stamp, text.encode() if keyed else None, text.encode())
        for n, text in enumerate(texts)
    ]
    sequence = -1 if producer < 0 else 0
    return base64.b64encode(
        build(made, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)
    ).decode()


def produce(
    number: int,
    *sent: tuple[int, str],
    offsets: dict[int, int] | None = None,
    errors: dict[int, int] | None = None,
    acks: int = -1,
    **columns: Any,
) -> Exchange:
    """A Produce request of batches for partitions of `orders`.

    offsets, errors: what the broker says of a partition; of those in neither, nothing.
    """
    answers = {**dict.fromkeys(offsets or (), 0), **(errors or {})}
    request = {
        "acks": acks,
        "timeout_ms": 30_000,
        "topic_data": [
            {
                "name": "orders",
                "partition_data": [{"index": at, "records": records} for at, records in sent],
            }
        ],
    }
    partitions = [
        {"index": at, "error_code": code, "base_offset": (offsets or {}).get(at, -1)}
        for at, code in answers.items()
    ]
    response = {"responses": [{"name": "orders", "partition_responses": partitions}]}
    told = {"request": request, "response": response if answers else None}
    return exchange("Produce", number, **{**told, **columns})
