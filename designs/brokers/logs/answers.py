"""Responses to Produce, Fetch and Offsets in 0.8's v0, made from a broker's logs.

The layouts are those of the protocol guide of 0.8. There are no replicas, so every acks but 0 is the same,
and the high watermark is a log's end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from barnabas.designs.brokers.logs.log import OUTPUT_LIMIT, Log, OutOfRange, TooLarge
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, LATEST
from barnabas.designs.protocol_guide.client_0_8.errors import Error
from barnabas.specs.malformed import Malformed

Body = dict[str, Any]

FETCH_LIMIT: Final = 16 << 20
"""Bytes of records in a response."""


class StoredLog(Protocol):
    """A log with its messages, such as a file of `barnabas.designs.brokers.logs.files`."""

    @property
    def log(self) -> Log:
        """Return the offsets of the log and their positions."""

    def append(self, data: bytes, limit: int) -> tuple[int, int]:
        """Append a message set; return its first offset, and the number of decompressed bytes.

        limit: of decompressed bytes. Raises Malformed, TooLarge, OSError.
        """

    def read(self, offset: int, most: int) -> bytes:
        """Return messages from an offset on. Raises OutOfRange."""


class LedLogs(Protocol):
    """The logs of the partitions that this broker leads."""

    def get(self, partition: TopicPartition) -> StoredLog | None:
        """Return the log of a partition; None: this broker does not lead it."""


def _log(partition: TopicPartition, logs: LedLogs, topics: Mapping[str, int]) -> StoredLog | Error:
    if not 0 <= partition[1] < topics.get(partition[0], 0):
        return Error.UNKNOWN_TOPIC_OR_PARTITION
    return logs.get(partition) or Error.NOT_LEADER_OR_FOLLOWER


def produced(body: Body, logs: LedLogs, topics: Mapping[str, int]) -> Body:
    """Append the message sets of a Produce request, and return its response."""
    remaining_output = OUTPUT_LIMIT

    def append(topic: str, part: Body) -> Body:
        nonlocal remaining_output
        log = _log((topic, part["index"]), logs, topics)
        error, offset = Error.NONE, -1
        try:
            if isinstance(log, Error):
                error = log
            else:
                offset, output = log.append(part["records"] or b"", remaining_output)
                remaining_output -= output
        except Malformed:  # or there is more in it than is decompressed
            error = Error.CORRUPT_MESSAGE
        except TooLarge:
            error = Error.MESSAGE_TOO_LARGE
        except OSError:
            error = Error.UNKNOWN_SERVER_ERROR
        return {"index": part["index"], "error_code": error, "base_offset": offset}

    rows = [
        (topic["name"], [append(topic["name"], part) for part in topic["partition_data"]])
        for topic in body["topic_data"]
    ]
    return {"responses": [{"name": topic, "partition_responses": parts} for topic, parts in rows]}


def available(body: Body, logs: LedLogs, topics: Mapping[str, int]) -> int | None:
    """Return the number of bytes that a Fetch would get; None: it need not wait.

    A Fetch does not wait if there is an error, or if it names a partition twice.
    """
    size = 0
    parts = {
        (topic["topic"], part["partition"]): part
        for topic in body["topics"]
        for part in topic["partitions"]
    }
    if len(parts) < sum(len(topic["partitions"]) for topic in body["topics"]):
        return None
    for partition, part in parts.items():
        log = _log(partition, logs, topics)
        if isinstance(log, Error):
            return None
        try:
            size += log.log.place(part["fetch_offset"], part["partition_max_bytes"])[1]
        except OutOfRange:
            return None
    return size


def fetched(body: Body, logs: LedLogs, topics: Mapping[str, int]) -> Body:
    """Return the response to a Fetch from the present logs."""
    remaining_bytes = FETCH_LIMIT

    def read(topic: str, part: Body) -> Body:
        nonlocal remaining_bytes
        log = _log((topic, part["partition"]), logs, topics)
        error, end, data = log if isinstance(log, Error) else Error.NONE, -1, b""
        if not isinstance(log, Error):
            end = log.log.end
            try:
                data = log.read(
                    part["fetch_offset"], min(remaining_bytes, part["partition_max_bytes"])
                )
            except OutOfRange:
                error = Error.OFFSET_OUT_OF_RANGE
        remaining_bytes -= len(data)
        row = {"partition_index": part["partition"], "error_code": error}
        return {**row, "high_watermark": end, "records": data}

    rows = [
        (topic["topic"], [read(topic["topic"], part) for part in topic["partitions"]])
        for topic in body["topics"]
    ]
    return {"responses": [{"topic": topic, "partitions": parts} for topic, parts in rows]}


def offsets(body: Body, logs: LedLogs, topics: Mapping[str, int]) -> Body:
    """Return the response to an Offset request.

    A log is one segment of unknown time: only LATEST and EARLIEST have offsets.
    """

    def of(topic: str, part: Body) -> Body:
        row = {"partition_index": part["partition_index"], "error_code": 0}
        log = _log((topic, part["partition_index"]), logs, topics)
        if isinstance(log, Error):
            return {**row, "error_code": log, "old_style_offsets": []}
        known = {LATEST: [log.log.end, 0], EARLIEST: [0]}.get(part["timestamp"], [])
        most = max(0, part["max_num_offsets"])
        return {**row, "old_style_offsets": [*dict.fromkeys(known)][:most]}

    rows = [
        (topic["name"], [of(topic["name"], part) for part in topic["partitions"]])
        for topic in body["topics"]
    ]
    return {"topics": [{"name": topic, "partitions": parts} for topic, parts in rows]}
