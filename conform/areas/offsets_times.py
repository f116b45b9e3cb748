"""ListOffsets: the largest time, times without a record, unknown special timestamps, a log that grows."""

from __future__ import annotations

from typing import Final

from barnabas.conform.areas.offsets import NEEDS, timed_topic
from barnabas.conform.batches import MAX_TIMESTAMP as MAX_TIMESTAMP_FIELD
from barnabas.conform.batches import rewritten
from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import (
    TIME_MS,
    batch,
    produce,
    produce_fields,
    produced,
    usable_version,
)
from barnabas.conform.offsets import EARLIEST, MAX_TIMESTAMP, list_offsets
from barnabas.conform.partitions import parts


@check(
    "offsets/max-timestamp-compressed",
    "KIP-734; apache/kafka#15474 (KAFKA-16342)",
    needs={"Produce": 3, "ListOffsets": 7},
    since="3.7.1",
)
async def max_timestamp_compressed(broker: Broker) -> None:
    """Timestamp -3 gets the offset of the record with the largest time in a compressed batch."""
    topic = await broker.topic()
    times = [TIME_MS + 1, TIME_MS + 9, TIME_MS + 4]
    await produced(broker, topic, "a", "b", "c", timestamps=times, compression="gzip")
    response = await list_offsets(broker, topic, MAX_TIMESTAMP)
    response.expect(error_code="NONE", offset=1, timestamp=TIME_MS + 9)


@check(
    "offsets/max-timestamp-twice",
    "KIP-734; apache/kafka#15618 (KAFKA-16310)",
    level=SHOULD,
    needs={"Produce": 3, "ListOffsets": 7},
)
async def max_timestamp_twice(broker: Broker) -> None:
    """Timestamp -3 gets the first of several records with the largest time."""
    topic = await broker.topic()
    times = [TIME_MS + 1, TIME_MS + 9, TIME_MS + 9]
    await produced(broker, topic, "a", "b", "c", timestamps=times)
    await produced(broker, topic, "d", timestamps=[TIME_MS + 9])
    response = await list_offsets(broker, topic, MAX_TIMESTAMP)
    response.expect(error_code="NONE", offset=1, timestamp=TIME_MS + 9)


@check(
    "offsets/no-record-no-epoch",
    "KIP-320; twmb/franz-go#1434",
    level=SHOULD,
    needs={"Produce": 3, "ListOffsets": 4},
)
async def no_record_no_epoch(broker: Broker) -> None:
    """A time after all records gets leader epoch -1, as there is no record."""
    topic = await timed_topic(broker)
    response = await list_offsets(broker, topic, TIME_MS + 9)
    response.expect(error_code="NONE", offset=-1, leader_epoch=-1)


@check(
    "offsets/unknown-special",
    "ReplicaManager.fetchOffset; twmb/franz-go#1434",
    level=SHOULD,
    needs=NEEDS,
)
async def unknown_special(broker: Broker) -> None:
    """A negative timestamp without a meaning gets UNSUPPORTED_VERSION."""
    topic = await timed_topic(broker)
    (await list_offsets(broker, topic, -99)).expect(error_code="UNSUPPORTED_VERSION")


@check(
    "offsets/header-max-timestamp",
    "LogValidator; redpanda-data/redpanda#1702, #25769",
    level=SHOULD,
    needs=NEEDS,
)
async def header_max_timestamp(broker: Broker) -> None:
    """A time is found in a batch whose header has too small a maximum timestamp, as some clients write it."""
    topic = await broker.topic()
    data = batch("a", "b", timestamps=[TIME_MS + 1, TIME_MS + 9])
    stored = await produce(broker, topic, rewritten(data, MAX_TIMESTAMP_FIELD, TIME_MS + 1))
    stored.expect(error_code="NONE")
    response = await list_offsets(broker, topic, TIME_MS + 5)
    response.expect(error_code="NONE", offset=1, timestamp=TIME_MS + 9)


@check(
    "offsets/log-append-time",
    "KIP-32; redpanda-data/redpanda#27674",
    needs={**NEEDS, "CreateTopics": 0},
)
async def log_append_time(broker: Broker) -> None:
    """With LogAppendTime the broker's time of a batch gets its first record, whatever the producer's time."""
    topic = await broker.topic(message_timestamp_type="LogAppendTime")
    times = [TIME_MS + 1, TIME_MS + 9]
    stored = await produce(broker, topic, batch("a", "b", timestamps=times))
    appended = stored.expect(error_code="NONE", log_append_time_ms=AtLeast(TIME_MS + 10))
    time = appended["log_append_time_ms"]
    response = await list_offsets(broker, topic, time)
    response.expect(error_code="NONE", offset=0, timestamp=time)
    response = await list_offsets(broker, topic, time + 1)
    response.expect(error_code="NONE", offset=-1)


@check("offsets/partial-failure", "ListOffsetsResponse.json", needs=NEEDS)
async def partial_failure(broker: Broker) -> None:
    """An unknown partition does not keep ListOffsets from listing the others of a request."""
    topic = await timed_topic(broker)
    rows = [
        {"partition_index": index, "current_leader_epoch": -1, "timestamp": EARLIEST}
        for index in (99, 0)
    ]
    response = await (await broker.leader(topic)).send(
        "ListOffsets",
        broker.version("ListOffsets", 1),
        replica_id=-1,
        topics=[{"name": topic, "partitions": rows}],
        timeout_ms=5_000,
    )
    listed = parts(response.at("topics[0]"), "partitions", "partition_index")
    listed[99].expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    listed[0].expect(error_code="NONE", offset=0)


@check("offsets/earliest-while-producing", "KIP-79; streamnative/kop#1512", needs=NEEDS)
async def earliest_while_producing(broker: Broker) -> None:
    """Timestamp -2 gets offset 0 while records are produced to a new topic."""
    topic = await broker.topic()
    writer = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    body = await produce_fields(broker, topic, {0: batch("a")}, version)
    for _ in range(5):
        for _ in range(5):
            await writer.write("Produce", version, **body)
        listed = await list_offsets(broker, topic, EARLIEST)
        listed.expect(error_code="NONE", offset=0)
    for _ in range(25):
        response = (await writer.read()).at("responses[0].partition_responses[0]")
        response.expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    max_timestamp_compressed,
    max_timestamp_twice,
    no_record_no_epoch,
    unknown_special,
    header_max_timestamp,
    log_append_time,
    partial_failure,
    earliest_while_producing,
)
