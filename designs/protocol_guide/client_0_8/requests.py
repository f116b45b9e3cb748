"""Bodies of requests to the leader of partitions, and its responses by partition. Pure functions.

Layouts: the protocol guide of 0.8; v0 of Produce, Fetch and ListOffsets ("Offset API").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import TopicPartition, parts_in, topics_with
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message, read_from, write

LATEST: Final = -1
"""The time that stands for the offset of the next message."""

EARLIEST: Final = -2
"""The time that stands for the oldest offset."""

CONSUMER: Final = -1
"""The replica id of a client. A client with -2 may read what followers may."""


class Produced(NamedTuple):
    """A partition of a Produce response. offset: of the set's first message, -1 with an error."""

    error: int
    offset: int = -1


class Fetched(NamedTuple):
    """A partition of a Fetch response. high_watermark: the offset after the last replicated message."""

    error: int
    high_watermark: int = -1
    messages: tuple[tuple[int, Message], ...] = ()
    too_small: bool = False
    """The first message is larger than the limit: fetch again with a larger one."""


class Offsets(NamedTuple):
    """First offsets of segments, the newest first. If LATEST was requested, the log end precedes them."""

    error: int
    offsets: tuple[int, ...] = ()


def produce(
    sets: Mapping[TopicPartition, Sequence[Message]], acks: int, timeout_ms: int, compression: str
) -> dict[str, Any]:
    """Build the body of a Produce request. Raises barnabas.specs.codec.Unfit."""
    data = {partition: write(messages, compression) for partition, messages in sets.items()}
    return produce_bytes(data, acks, timeout_ms)


def produce_bytes(
    sets: Mapping[TopicPartition, bytes], acks: int, timeout_ms: int
) -> dict[str, Any]:
    """Build the body of a Produce request from encoded message sets or batches."""
    topics = topics_with(
        sets, lambda index, data: {"index": index, "records": data}, inner="partition_data"
    )
    return {"acks": acks, "timeout_ms": timeout_ms, "topic_data": topics}


def fetch(
    positions: Mapping[TopicPartition, int],
    *,
    max_wait_ms: int,
    min_bytes: int,
    max_bytes: int,
    replica_id: int = CONSUMER,
) -> dict[str, Any]:
    """Build the body of a Fetch request. max_bytes: the limit of each partition."""

    def part(number: int, offset: int) -> dict[str, int]:
        return {"partition": number, "fetch_offset": offset, "partition_max_bytes": max_bytes}

    return {
        "replica_id": replica_id,
        "max_wait_ms": max_wait_ms,
        "min_bytes": min_bytes,
        "topics": topics_with(positions, part, name="topic"),
    }


def offsets(times: Mapping[TopicPartition, int], count: int) -> dict[str, Any]:
    """Build the body of an Offset request. times: ms, LATEST or EARLIEST; count: the most offsets."""

    def part(number: int, timestamp: int) -> dict[str, int]:
        return {"partition_index": number, "timestamp": timestamp, "max_num_offsets": count}

    return {"replica_id": CONSUMER, "topics": topics_with(times, part)}


def produced(body: Mapping[str, Any]) -> dict[TopicPartition, Produced]:
    """Read a Produce response."""
    parts = parts_in(body["responses"], inner="partition_responses", index="index")
    return {
        partition: Produced(part["error_code"], part["base_offset"]) for partition, part in parts
    }


def fetched(
    body: Mapping[str, Any], positions: Mapping[TopicPartition, int]
) -> dict[TopicPartition, Fetched]:
    """Read the response to a Fetch request from these offsets. Raises Malformed."""
    return {
        partition: fetched_part(part, positions.get(partition, 0))
        for partition, part in fetched_parts(body)
    }


def fetched_parts(body: Mapping[str, Any]) -> Iterator[tuple[TopicPartition, Mapping[str, Any]]]:
    """Yield each partition of a Fetch response, its messages not decoded."""
    return parts_in(body["responses"], name="topic")


def fetched_part(part: Mapping[str, Any], position: int) -> Fetched:
    """Decode a partition of the response to a Fetch request from this offset. Raises Malformed."""
    read = read_from(part["records"] or b"", position)
    return Fetched(part["error_code"], part["high_watermark"], *read)


def offsets_found(body: Mapping[str, Any]) -> dict[TopicPartition, Offsets]:
    """Read an Offset response."""
    return {
        partition: Offsets(part["error_code"], tuple(part["old_style_offsets"]))
        for partition, part in parts_in(body["topics"])
    }
