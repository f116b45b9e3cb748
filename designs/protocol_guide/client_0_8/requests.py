"""What is asked of one broker for some of its partitions, and what it answers. Pure functions.

Layouts: the protocol guide of 0.8; v0 of Produce, Fetch and ListOffsets ("Offset API").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.designs.leaders import Place, by_topic
from barnabas.designs.protocol_guide.client_0_8.message_sets import Message, read_from, write

LATEST: Final = -1
"""As a time: the offset of the next message."""

EARLIEST: Final = -2
"""As a time: the oldest offset."""

CONSUMER: Final = -1
"""As a replica id: no replica but a client. -2 is a client that may read what followers may."""


class Produced(NamedTuple):
    """What became of a set. offset: of its first message, -1 with an error."""

    error: int
    offset: int


class Fetched(NamedTuple):
    """What a partition had. high_watermark: the offset behind the last message that all have."""

    error: int
    high_watermark: int
    messages: tuple[tuple[int, Message], ...]
    too_small: bool
    """The first message is larger than the limit: ask again with a larger one."""


class Offsets(NamedTuple):
    """Where segments begin, the newest first, and in front of them the end, if LATEST was asked."""

    error: int
    offsets: tuple[int, ...]


def produce(
    sets: Mapping[Place, Sequence[Message]], acks: int, timeout_ms: int, compression: str
) -> dict[str, Any]:
    """The body of a Produce request. Raises barnabas.specs.codec.Unfit."""
    return produce_bytes(
        {place: write(messages, compression) for place, messages in sets.items()}, acks, timeout_ms
    )


def produce_bytes(sets: Mapping[Place, bytes], acks: int, timeout_ms: int) -> dict[str, Any]:
    """The same with sets of any bytes."""
    topics = [
        {"name": topic, "partition_data": [{"index": i, "records": data} for i, data in parts]}
        for topic, parts in by_topic(sets.items())
    ]
    return {"acks": acks, "timeout_ms": timeout_ms, "topic_data": topics}


def fetch(
    positions: Mapping[Place, int],
    *,
    max_wait_ms: int,
    min_bytes: int,
    max_bytes: int,
    replica_id: int = CONSUMER,
) -> dict[str, Any]:
    """The body of a Fetch request; max_bytes is of each partition."""
    topics = [
        {
            "topic": topic,
            "partitions": [
                {"partition": i, "fetch_offset": at, "partition_max_bytes": max_bytes}
                for i, at in parts
            ],
        }
        for topic, parts in by_topic(positions.items())
    ]
    return {
        "replica_id": replica_id,
        "max_wait_ms": max_wait_ms,
        "min_bytes": min_bytes,
        "topics": topics,
    }


def offsets(times: Mapping[Place, int], count: int) -> dict[str, Any]:
    """The body of an Offset request. times: ms, LATEST or EARLIEST; count: so many offsets at most."""
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": i, "timestamp": time, "max_num_offsets": count}
                for i, time in parts
            ],
        }
        for topic, parts in by_topic(times.items())
    ]
    return {"replica_id": CONSUMER, "topics": topics}


def produced(body: Mapping[str, Any]) -> dict[Place, Produced]:
    """What a Produce response says."""
    return {
        (topic["name"], part["index"]): Produced(part["error_code"], part["base_offset"])
        for topic in body["responses"]
        for part in topic["partition_responses"]
    }


def fetched(body: Mapping[str, Any], positions: Mapping[Place, int]) -> dict[Place, Fetched]:
    """What a Fetch response says to who asked from these offsets. Raises Malformed."""
    return {
        place: fetched_part(part, positions.get(place, 0)) for place, part in fetched_parts(body)
    }


def fetched_parts(body: Mapping[str, Any]) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """What a Fetch response has of each partition."""
    for topic in body["responses"]:
        for part in topic["partitions"]:
            yield (topic["topic"], part["partition_index"]), part


def fetched_part(part: Mapping[str, Any], position: int) -> Fetched:
    """What it says of one, to who asked from this offset. Raises Malformed."""
    read = read_from(part["records"] or b"", position)
    return Fetched(part["error_code"], part["high_watermark"], *read)


def offsets_found(body: Mapping[str, Any]) -> dict[Place, Offsets]:
    """What an Offset response says."""
    return {
        (topic["name"], part["partition_index"]): Offsets(
            part["error_code"], tuple(part["old_style_offsets"])
        )
        for topic in body["topics"]
        for part in topic["partitions"]
    }
