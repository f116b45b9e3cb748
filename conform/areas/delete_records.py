"""DeleteRecords (KIP-107), and the ends of leader epochs."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import expect_values, fetch, produced, records_of
from barnabas.conform.offsets import EARLIEST, LATEST, delete_records, list_offsets
from barnabas.conform.partitions import other_broker, parts

NEEDS: Final = {"Produce": 3, "DeleteRecords": 0, "ListOffsets": 1}
EPOCHS: Final = {"Produce": 3, "OffsetForLeaderEpoch": 0}


async def filled_topic(broker: Broker) -> str:
    """Create a topic with three batches of one record."""
    topic = await broker.topic()
    for value in "abc":
        await produced(broker, topic, value)
    return topic


@check("delete-records/low-watermark", "KIP-107", needs=NEEDS, each="DeleteRecords")
async def low_watermark(broker: Broker) -> None:
    """DeleteRecords moves the start of the log, and returns it."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, 1)).expect(error_code="NONE", low_watermark=1)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=1)
    (await list_offsets(broker, topic, LATEST)).expect(error_code="NONE", offset=3)


@check("delete-records/high-watermark", "KIP-107", needs=NEEDS)
async def high_watermark(broker: Broker) -> None:
    """The offset -1 deletes all records up to the high watermark."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, -1)).expect(error_code="NONE", low_watermark=3)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=3)


@check("delete-records/offsets-go-on", "KIP-107", needs={**NEEDS, "Fetch": 4})
async def offsets_go_on(broker: Broker) -> None:
    """Records produced after all others were deleted get the next offsets."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, -1)).expect(error_code="NONE")
    await produced(broker, topic, "d")
    (await list_offsets(broker, topic, LATEST)).expect(error_code="NONE", offset=4)
    expect_values(await fetch(broker, topic, 3), "d")


@check("delete-records/beyond-end", "KIP-107", needs=NEEDS)
async def beyond_end(broker: Broker) -> None:
    """An offset beyond the high watermark gets OFFSET_OUT_OF_RANGE, and nothing is deleted."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, 99)).expect(error_code="OFFSET_OUT_OF_RANGE")
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=0)


@check("delete-records/negative-offset", "KIP-107", level=SHOULD, needs=NEEDS)
async def negative_offset(broker: Broker) -> None:
    """An offset below -1 gets OFFSET_OUT_OF_RANGE, and nothing is deleted."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, -2)).expect(error_code="OFFSET_OUT_OF_RANGE")
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=0)


@check("delete-records/again", "KIP-107", level=SHOULD, needs=NEEDS)
async def again(broker: Broker) -> None:
    """An offset before the start of the log deletes nothing, and gets the start of the log."""
    topic = await filled_topic(broker)
    (await delete_records(broker, topic, 2)).expect(error_code="NONE", low_watermark=2)
    (await delete_records(broker, topic, 1)).expect(error_code="NONE", low_watermark=2)
    (await list_offsets(broker, topic, EARLIEST)).expect(error_code="NONE", offset=2)


@check("delete-records/inside-batch", "KIP-107; LogSegment.read", needs={**NEEDS, "Fetch": 4})
async def inside_batch(broker: Broker) -> None:
    """If the new start is inside a batch, a Fetch from there returns the record at that offset."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", "c")
    (await delete_records(broker, topic, 1)).expect(error_code="NONE", low_watermark=1)
    (await fetch(broker, topic, 0)).expect(error_code="OFFSET_OUT_OF_RANGE")
    fetched = await fetch(broker, topic, 1)
    received = [record.offset for record in records_of(fetched) if record.offset > 0]
    if received != [1, 2]:
        raise fetched.failed("records", "offsets 1 and 2", f"{received}")


@check(
    "delete-records/unknown-topic",
    "KafkaApis.handleDeleteRecordsRequest",
    needs={"DeleteRecords": 0},
)
async def unknown_topic(broker: Broker) -> None:
    """An unknown topic gets UNKNOWN_TOPIC_OR_PARTITION."""
    unknown = broker.name("topic")
    refused = await delete_records(broker, unknown, 0, on=broker.main)
    refused.expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "delete-records/unknown-partition",
    "KafkaApis.handleDeleteRecordsRequest",
    needs={"DeleteRecords": 0},
)
async def unknown_partition(broker: Broker) -> None:
    """A partition that the topic lacks gets UNKNOWN_TOPIC_OR_PARTITION."""
    topic = await broker.topic()
    refused = await delete_records(broker, topic, 0, on=broker.main, partition_index=99)
    refused.expect(partition_index=99, error_code="UNKNOWN_TOPIC_OR_PARTITION")


@check(
    "delete-records/compacted",
    "ReplicaManager.deleteRecordsOnLocalLog",
    level=SHOULD,
    needs={"DeleteRecords": 0},
)
async def compacted(broker: Broker) -> None:
    """Records of a topic that is only compacted can't be deleted: POLICY_VIOLATION."""
    topic = await broker.topic(cleanup_policy="compact")
    (await delete_records(broker, topic, 0)).expect(error_code="POLICY_VIOLATION")


@check("delete-records/not-leader", "KIP-107", needs={"DeleteRecords": 0})
async def not_leader(broker: Broker) -> None:
    """A broker that does not lead the partition answers NOT_LEADER_OR_FOLLOWER."""
    topic = await broker.topic()
    other = await other_broker(broker, topic)
    refused = await delete_records(broker, topic, 0, on=other)
    refused.expect(error_code="NOT_LEADER_OR_FOLLOWER")


@check("delete-records/several-partitions", "DeleteRecordsResponse.json", needs=NEEDS)
async def several_partitions(broker: Broker) -> None:
    """Each partition of a request gets its own start or error."""
    topic = await filled_topic(broker)
    leader = await broker.leader(topic)
    rows = [{"partition_index": index, "offset": 2} for index in (99, 0)]
    response = await leader.send(
        "DeleteRecords", topics=[{"name": topic, "partitions": rows}], timeout_ms=10_000
    )
    deleted = parts(response.at("topics[0]"), "partitions", "partition_index")
    deleted[99].expect(error_code="UNKNOWN_TOPIC_OR_PARTITION")
    deleted[0].expect(error_code="NONE", low_watermark=2)


CHECKS: Final[tuple[Check, ...]] = (
    low_watermark,
    high_watermark,
    offsets_go_on,
    beyond_end,
    negative_offset,
    again,
    inside_batch,
    unknown_topic,
    unknown_partition,
    compacted,
    not_leader,
    several_partitions,
)
