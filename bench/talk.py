"""What the connections of a recorded capture say, over and over.

Four send Produce requests of 16 KiB, five under way; one sends 1 MiB at a time; one fetches 1 MiB, 64 KiB
and nothing; two hold groups and ask for metadata. All batches are whole, with records of 1,000 bytes,
uncompressed; Produce and Fetch are of the newest versions that tshark 4.0 reads.
"""

from __future__ import annotations

import itertools
import random
from typing import Final, NamedTuple

from barnabas.specs import records
from barnabas.specs.frames import Direction
from barnabas.specs.records import Record
from barnabas.specs.registry import key_of
from bench.load import KIB, MIB, frame
from bench.messages import Values

BEGUN: Final = 1_700_000_000_000_000_000
"""ns since the epoch."""

SERVER: Final = ("10.0.0.2", 9092)

VALUE: Final = 1000
"""Bytes of a record."""

RECORD: Final = VALUE + 12
"""Of a record with what stands before it in a batch."""


class Run(NamedTuple):
    """Frames of one direction, back to back; each gets the next correlation id when it is sent."""

    direction: Direction
    data: bytearray
    ids: tuple[int, ...]
    """Where the correlation ids stand."""


def run(direction: Direction, *frames: bytes) -> Run:
    """Frames with their sizes. The id stands behind the size, key and version; in a response at once."""
    at = 8 if direction == "request" else 4
    starts = itertools.accumulate(map(len, frames[:-1]), initial=0)
    return Run(direction, bytearray().join(frames), tuple(start + at for start in starts))


def batch(size: int) -> bytes:
    """Return a record batch of about the given size."""
    noise = random.Random(size)
    return records.build(
        [
            Record(number, BEGUN // 10**6 + number, None, noise.randbytes(VALUE))
            for number in range(size // RECORD)
        ]
    )


def exchange(name: str, version: int, asked: Values, answered: Values, count: int = 1) -> list[Run]:
    """Return a number of requests in flight at once, then their responses."""
    key = key_of(name)
    request = frame("request", key, version, 0, asked)
    response = frame("response", key, version, 0, answered)
    return [run("request", *[request] * count), run("response", *[response] * count)]


def produce(size: int, count: int = 1) -> list[Run]:
    """Return the traffic of a producer that waits for all replicas."""
    partition = {"index": 0, "records": batch(size)}
    topics = [{"name": "orders", "partition_data": [partition]}]
    request = {"acks": -1, "timeout_ms": 30_000, "topic_data": topics}
    done = {"index": 0, "base_offset": 1_234_567, "log_start_offset": 0}
    answered = {"responses": [{"name": "orders", "partition_responses": [done]}]}
    return exchange("Produce", 8, request, answered, count)


def fetch(size: int) -> list[Run]:
    """Return the traffic of a consumer; a response of size 0 ends a Fetch that timed out."""
    wanted = {"partition": 0, "fetch_offset": 1_234_567, "partition_max_bytes": MIB}
    request = {
        "max_wait_ms": 500,
        "min_bytes": 1,
        "topics": [{"topic": "orders", "partitions": [wanted]}],
    }
    runs = {
        "partition_index": 0,
        "high_watermark": 2_345_678,
        "last_stable_offset": 2_345_678,
        "records": batch(size) if size else b"",
    }
    answered = {"responses": [{"topic": "orders", "partitions": [runs]}]}
    return exchange("Fetch", 11, request, answered)


def member(topics: int = 10, partitions: int = 10) -> list[Run]:
    """Return a group member's requests to its coordinator, and Metadata requests."""
    who = {"group_id": "billing", "member_id": "consumer-1-0d2f5b1e-8f6b-4d57-8b0c-5d3f0a9f6f10"}
    indexes = [{"partition_index": number} for number in range(partitions)]
    committed, done, led = (
        {"name": "orders", "partitions": [row | more for row in indexes]}
        for more in ({"committed_offset": 1_234_567}, {}, {"leader_id": 1})
    )
    brokers = [{"node_id": 1, "host": SERVER[0], "port": SERVER[1]}]
    return [
        *exchange("Heartbeat", 4, who | {"generation_id": 17}, {}),
        *exchange(
            "OffsetCommit",
            8,
            who | {"generation_id_or_member_epoch": 17, "topics": [committed]},
            {"topics": [done]},
        ),
        *exchange(
            "Metadata",
            9,
            {"topics": None},
            {"brokers": brokers, "topics": [led] * topics},
        ),
    ]


def connections() -> list[list[Run]]:
    """Return the repeated traffic of each connection, unshared because ids are written into it."""
    small = [produce(16 * KIB, 5) * 4 for _ in range(4)]
    fetched = [*fetch(MIB), *fetch(64 * KIB), *fetch(0)]
    return [*small, produce(MIB), fetched, member(), member()]


def small() -> list[list[Run]]:
    """Return traffic of small frames, each in its own packet.

    It has single records, a Fetch with and without records, and the requests of a group member with two
    partitions.
    """
    return [_little() for _ in range(2)]


def _little() -> list[Run]:
    software = {"client_software_name": "bench", "client_software_version": "1.0"}
    offered = {"api_keys": [{"api_key": key, "max_version": 12} for key in range(40)]}
    return [
        *produce(RECORD),
        *fetch(RECORD),
        *fetch(0),
        *member(1, 2),
        *exchange("ApiVersions", 3, software, offered),
    ]
