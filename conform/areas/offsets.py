"""ListOffsets: the ends of a log, and offsets by time."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.logs import TIME_MS, batch, produce, produced
from barnabas.conform.offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    delete_records,
    list_offsets,
)
from barnabas.conform.partitions import parts, together

NEEDS: Final = {"Produce": 3, "ListOffsets": 1}


async def timed_topic(broker: Broker, compression: str = "none") -> str:
    """Create a topic with batches whose records' times are 2, 4 and 6, 8 ms after TIME_MS."""
    topic = await broker.topic()
    for times in ((2, 4), (6, 8)):
        timestamps = [TIME_MS + time for time in times]
        await produced(broker, topic, "a", "b", timestamps=timestamps, compression=compression)
    return topic


@check("offsets/latest", "KIP-79", needs=NEEDS, each="ListOffsets")
async def latest(broker: Broker) -> None:
    """Timestamp -1 gets the end of the log: the offset of the next record."""
    topic = await timed_topic(broker)
    (await list_offsets(broker, topic, LATEST)).expect(error_code="NONE", offset=4)


@check("offsets/earliest", "KIP-79", needs=NEEDS)
async def earliest(broker: Broker) -> None:
    """Timestamp -2 gets the start of the log."""
    topic = await timed_topic(broker)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=0)


@check("offsets/ends-without-time", "KIP-79", level=SHOULD, needs=NEEDS)
async def ends_without_time(broker: Broker) -> None:
    """The ends of the log come with timestamp -1."""
    topic = await timed_topic(broker)
    for timestamp in (LATEST, EARLIEST):
        (await list_offsets(broker, topic, timestamp)).expect(error_code="NONE", timestamp=-1)


@check("offsets/empty", "KIP-79", needs={"ListOffsets": 1})
async def empty(broker: Broker) -> None:
    """An empty log begins and ends at 0, and has no offset for a time."""
    topic = await broker.topic()
    (await list_offsets(broker, topic, LATEST)).expect(error_code="NONE", offset=0)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=0)
    by_time = await list_offsets(broker, topic, TIME_MS)
    by_time.expect(error_code="NONE", offset=-1, timestamp=-1)


@check("offsets/by-time", "KIP-79; streamnative/kop#334", needs=NEEDS, each="ListOffsets")
async def by_time(broker: Broker) -> None:
    """A time gets the first record at or after it."""
    topic = await timed_topic(broker)
    for time, offset, at in ((0, 0, 2), (2, 0, 2), (3, 1, 4), (4, 1, 4), (5, 2, 6), (8, 3, 8)):
        response = await list_offsets(broker, topic, TIME_MS + time)
        response.expect(error_code="NONE", offset=offset, timestamp=TIME_MS + at)


@check("offsets/by-time-beyond", "KIP-79", needs=NEEDS)
async def by_time_beyond(broker: Broker) -> None:
    """A time after all records gets offset -1 and timestamp -1."""
    topic = await timed_topic(broker)
    response = await list_offsets(broker, topic, TIME_MS + 9)
    response.expect(error_code="NONE", offset=-1, timestamp=-1)


@check("offsets/inside-batch", "KIP-79", needs=NEEDS)
async def inside_batch(broker: Broker) -> None:
    """The time of each record of a batch gets the offset of that record."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", "c", timestamps=[TIME_MS + n for n in range(3)])
    for number in range(3):
        response = await list_offsets(broker, topic, TIME_MS + number)
        response.expect(error_code="NONE", offset=number, timestamp=TIME_MS + number)


@check("offsets/inside-compressed-batch", "LogSegment.findOffsetByTimestamp", needs=NEEDS)
async def inside_compressed_batch(broker: Broker) -> None:
    """The time of each record of a compressed batch gets the offset of that record."""
    topic = await timed_topic(broker, "gzip")
    for number in range(4):
        time = TIME_MS + 2 * number + 2
        response = await list_offsets(broker, topic, time)
        response.expect(error_code="NONE", offset=number, timestamp=time)


@check("offsets/unsorted-times", "KIP-79", needs=NEEDS)
async def unsorted_times(broker: Broker) -> None:
    """If times are not in order, a time gets the smallest offset whose time is at or after it."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", "c", timestamps=[TIME_MS + n for n in (5, 9, 1)])
    await produced(broker, topic, "d", timestamps=[TIME_MS + 7])
    for time, offset, at in ((1, 0, 5), (6, 1, 9), (7, 1, 9)):
        response = await list_offsets(broker, topic, TIME_MS + time)
        response.expect(error_code="NONE", offset=offset, timestamp=TIME_MS + at)


@check("offsets/max-timestamp", "KIP-734", needs={"Produce": 3, "ListOffsets": 7})
async def max_timestamp(broker: Broker) -> None:
    """Timestamp -3 gets the offset and time of the record with the largest time."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", timestamps=[TIME_MS + 1, TIME_MS + 9])
    await produced(broker, topic, "c", timestamps=[TIME_MS + 4])
    response = await list_offsets(broker, topic, MAX_TIMESTAMP)
    response.expect(error_code="NONE", offset=1, timestamp=TIME_MS + 9)


@check("offsets/max-timestamp-empty", "KIP-734", needs={"ListOffsets": 7})
async def max_timestamp_empty(broker: Broker) -> None:
    """Timestamp -3 gets offset -1 and timestamp -1 for an empty log."""
    topic = await broker.topic()
    response = await list_offsets(broker, topic, MAX_TIMESTAMP)
    response.expect(error_code="NONE", offset=-1, timestamp=-1)


@check("offsets/max-timestamp-old-version", "KIP-734", level=SHOULD, needs=NEEDS, since="3.0.0")
async def max_timestamp_old_version(broker: Broker) -> None:
    """Timestamp -3 in a version older than 7 gets UNSUPPORTED_VERSION."""
    version = broker.version("ListOffsets", 1, 6)
    topic = await timed_topic(broker)
    refused = await list_offsets(broker, topic, MAX_TIMESTAMP, version=version)
    refused.expect(error_code="UNSUPPORTED_VERSION")


@check("offsets/earliest-local", "KIP-405", needs={"Produce": 3, "ListOffsets": 8})
async def earliest_local(broker: Broker) -> None:
    """Timestamp -4 gets the start of the log, for a log without remote storage."""
    topic = await timed_topic(broker)
    (await list_offsets(broker, topic, EARLIEST_LOCAL)).expect(error_code="NONE", offset=0)


@check("offsets/latest-tiered", "KIP-1005", needs={"Produce": 3, "ListOffsets": 9})
async def latest_tiered(broker: Broker) -> None:
    """Timestamp -5 gets offset -1, for a log without remote storage."""
    topic = await timed_topic(broker)
    (await list_offsets(broker, topic, LATEST_TIERED)).expect(error_code="NONE", offset=-1)


@check("offsets/earliest-pending-upload", "KIP-1023", needs={"Produce": 3, "ListOffsets": 11})
async def earliest_pending_upload(broker: Broker) -> None:
    """Timestamp -6 gets offset -1, for a log without remote storage."""
    topic = await timed_topic(broker)
    response = await list_offsets(broker, topic, EARLIEST_PENDING_UPLOAD)
    response.expect(error_code="NONE", offset=-1)


@check(
    "offsets/leader-epoch",
    "KIP-320; twmb/franz-go 06e62e6d",
    needs={"Produce": 3, "ListOffsets": 4, "Metadata": 7},
)
async def leader_epoch(broker: Broker) -> None:
    """The response has the leader epoch of the record that it found."""
    topic = await timed_topic(broker)
    epoch = (await broker.metadata(topic))["topics[0].partitions[0].leader_epoch"]
    for timestamp in (LATEST, EARLIEST, TIME_MS + 4):
        response = await list_offsets(broker, topic, timestamp)
        response.expect(error_code="NONE", leader_epoch=epoch)


@check("offsets/after-delete", "KIP-107", needs={**NEEDS, "DeleteRecords": 0})
async def after_delete(broker: Broker) -> None:
    """Times of deleted records get the first record that remains."""
    topic = await timed_topic(broker)
    (await delete_records(broker, topic, 2)).expect(error_code="NONE")
    response = await list_offsets(broker, topic, TIME_MS)
    response.expect(error_code="NONE", offset=2, timestamp=TIME_MS + 6)


@check(
    "offsets/version-zero",
    "ListOffsetsResponse.json v0",
    level=INFO,
    needs={"Produce": 3, "ListOffsets": 0},
)
async def version_zero(broker: Broker) -> None:
    """Version 0 gets a list of offsets, the newest first."""
    version = broker.version("ListOffsets", 0, 0)
    topic = await timed_topic(broker)
    response = await list_offsets(broker, topic, LATEST, version=version)
    response.expect(error_code="NONE", old_style_offsets=[4, 0])


@check("offsets/several-partitions", "ListOffsetsResponse.json", needs=NEEDS)
async def several_partitions(broker: Broker) -> None:
    """A request for several partitions gets the offsets of each."""
    topic, (first, second), leader = await together(broker)
    await produce(broker, topic, batch("a", "b"), partition=second)
    named = [
        {"partition_index": partition, "current_leader_epoch": -1, "timestamp": LATEST}
        for partition in (second, first)
    ]
    response = await leader.send(
        "ListOffsets",
        broker.version("ListOffsets", 1),
        replica_id=-1,
        topics=[{"name": topic, "partitions": named}],
        timeout_ms=5_000,
    )
    listed = parts(response.at("topics[0]"), "partitions", "partition_index")
    listed[first].expect(error_code="NONE", offset=0)
    listed[second].expect(error_code="NONE", offset=2)


@check("offsets/time-zero", "KIP-79", needs=NEEDS)
async def time_zero(broker: Broker) -> None:
    """Time 0 gets the first record."""
    topic = await timed_topic(broker)
    response = await list_offsets(broker, topic, 0)
    response.expect(error_code="NONE", offset=0, timestamp=TIME_MS + 2)


CHECKS: Final[tuple[Check, ...]] = (
    latest,
    earliest,
    ends_without_time,
    empty,
    by_time,
    by_time_beyond,
    inside_batch,
    inside_compressed_batch,
    unsorted_times,
    max_timestamp,
    max_timestamp_empty,
    max_timestamp_old_version,
    earliest_local,
    latest_tiered,
    earliest_pending_upload,
    leader_epoch,
    after_delete,
    version_zero,
    several_partitions,
    time_zero,
)
