"""Responses to Produce, Fetch and Offsets in 0.8's v0, of what a broker's logs have.

Layouts and what their fields mean: the protocol guide of 0.8. There are no replicas, so every acks but 0 is
the same, and the high watermark is a log's end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from barnabas.designs.brokers.logs.log import OUTPUT_LIMIT, Log, OutOfRange, TooLarge
from barnabas.designs.leaders import Place
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, LATEST
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.malformed import Malformed

Body = dict[str, Any]

FETCH_LIMIT: Final = 16 << 20
"""Bytes of records in a response."""


class Kept(Protocol):
    """A log with what is in it: `barnabas.designs.brokers.logs.files` has them in files."""

    @property
    def log(self) -> Log:
        """Which offsets there are."""

    def append(self, data: bytes, limit: int) -> tuple[int, int]:
        """Append a message set; the offset of its first message, and how many bytes were decompressed.

        limit: of those. Raises Malformed, TooLarge, OSError.
        """

    def read(self, offset: int, most: int) -> bytes:
        """Messages from an offset on. Raises OutOfRange."""


class Led(Protocol):
    """The logs that are led here."""

    def get(self, place: Place) -> Kept | None:
        """One of them."""


def found(place: Place, logs: Led, topics: Mapping[str, int]) -> Kept | Error:
    """The log of a partition, or the error why there is none."""
    if not 0 <= place[1] < topics.get(place[0], 0):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    log = logs.get(place)
    return Error.NOT_LEADER_OR_FOLLOWER if log is None else log


def produced(body: Body, logs: Led, topics: Mapping[str, int]) -> Body:
    """Append what a Produce request has; its response."""

    left = OUTPUT_LIMIT

    def append(topic: str, one: Body) -> Body:
        nonlocal left
        log = found((topic, one["index"]), logs, topics)
        error, offset = log if isinstance(log, Error) else Error.NONE, -1
        if not isinstance(log, Error):
            try:
                offset, output = log.append(one["records"] or b"", left)
                left -= output
            except Malformed:  # or there is more in it than is decompressed
                error = Error.CORRUPT_MESSAGE
            except TooLarge:
                error = Error.MESSAGE_TOO_LARGE
            except OSError:
                error = Error.UNKNOWN_SERVER_ERROR
        return {"index": one["index"], "error_code": error, "base_offset": offset}

    return {
        "responses": [
            {
                "name": topic["name"],
                "partition_responses": [
                    append(topic["name"], one) for one in topic["partition_data"]
                ],
            }
            for topic in body["topic_data"]
        ]
    }


def available(body: Body, logs: Led, topics: Mapping[str, int]) -> int | None:
    """Bytes that a Fetch would get; None: there is an error, or a
    partition is there twice, which does not wait."""
    size = 0
    seen = set()
    for topic in body["topics"]:
        for one in topic["partitions"]:
            place = topic["topic"], one["partition"]
            log = found(place, logs, topics)
            if isinstance(log, Error) or place in seen:
                return None
            seen.add(place)
            try:
                size += log.log.place(one["fetch_offset"], one["partition_max_bytes"])[1]
            except OutOfRange:
                return None
    return size


def fetched(body: Body, logs: Led, topics: Mapping[str, int]) -> Body:
    """The response to a Fetch, with what there is now."""
    left = FETCH_LIMIT

    def read(topic: str, one: Body) -> Body:
        nonlocal left
        log = found((topic, one["partition"]), logs, topics)
        error, end, data = log if isinstance(log, Error) else Error.NONE, -1, b""
        if not isinstance(log, Error):
            end = log.log.end
            try:
                data = log.read(one["fetch_offset"], min(left, one["partition_max_bytes"]))
            except OutOfRange:
                error = Error.OFFSET_OUT_OF_RANGE
        left -= len(data)
        named = {"partition_index": one["partition"], "error_code": error}
        return {**named, "high_watermark": end, "records": data}

    return {
        "responses": [
            {
                "topic": topic["topic"],
                "partitions": [read(topic["topic"], one) for one in topic["partitions"]],
            }
            for topic in body["topics"]
        ]
    }


def offsets(body: Body, logs: Led, topics: Mapping[str, int]) -> Body:
    """The response to an Offset request. A log is one segment, of which no time is known: any other time than
    LATEST and EARLIEST has none."""

    def of(topic: str, one: Body) -> Body:
        log = found((topic, one["partition_index"]), logs, topics)
        named = {"partition_index": one["partition_index"]}
        if isinstance(log, Error):
            return {**named, "error_code": log, "old_style_offsets": []}
        known = {LATEST: [log.log.end, 0], EARLIEST: [0]}.get(one["timestamp"], [])
        most = max(0, one["max_num_offsets"])
        return {**named, "error_code": 0, "old_style_offsets": [*dict.fromkeys(known)][:most]}

    return {
        "topics": [
            {
                "name": topic["name"],
                "partitions": [of(topic["name"], x) for x in topic["partitions"]],
            }
            for topic in body["topics"]
        ]
    }
