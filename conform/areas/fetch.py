"""Fetch: offsets, batches, errors."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, SHOULD, Check, check
from barnabas.conform.expectations import AtLeast, OneOf
from barnabas.conform.logs import (
    TIME_MS,
    batch,
    expect_values,
    fetch,
    fetch_fields,
    produce,
    produced,
    records_of,
    usable_version,
    values_of,
)
from barnabas.conform.offsets import delete_records
from barnabas.conform.operations import Now
from barnabas.conform.partitions import fetch_all, together
from barnabas.specs.records import Record, build, read

NEEDS: Final = {"Produce": 3, "Fetch": 4}


@check("fetch/inside-batch", "LogSegment.read", needs=NEEDS, each="Fetch")
async def inside_batch(broker: Broker) -> None:
    """A Fetch from an offset inside a batch returns the whole batch."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    await produced(broker, topic, "c", "d")
    first = await fetch(broker, topic, 1)
    if values_of(first)[:2] != ["a", "b"]:
        raise first.failed("records", "the batch of offsets 0 and 1 first", f"{values_of(first)}")


@check("fetch/inside-last-batch", "LogSegment.read", needs=NEEDS)
async def inside_last_batch(broker: Broker) -> None:
    """A Fetch from an offset inside the last batch returns that batch."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    await produced(broker, topic, "c", "d")
    expect_values(await fetch(broker, topic, 3), "c", "d")


@check("fetch/inside-compressed-batch", "LogSegment.read", needs=NEEDS)
async def inside_compressed_batch(broker: Broker) -> None:
    """A Fetch from an offset inside a compressed batch returns the whole batch."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b", "c", compression="gzip")
    fetched = await fetch(broker, topic, 2)
    expect_values(fetched, "a", "b", "c")
    offsets = [record.offset for record in records_of(fetched)]
    if offsets != [0, 1, 2]:
        raise fetched.failed("records", "offsets [0, 1, 2]", f"{offsets}")


@check("fetch/several-batches", "LogSegment.read", level=SHOULD, needs=NEEDS)
async def several_batches(broker: Broker) -> None:
    """A Fetch returns all batches from the offset on, as far as its limits allow."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    await produced(broker, topic, "c")
    await produced(broker, topic, "d")
    expect_values(await fetch(broker, topic, 0), "a", "b", "c", "d")


@check("fetch/next-offset", "FetchRequest.json, FetchOffset", needs=NEEDS)
async def next_offset(broker: Broker) -> None:
    """A consumer that goes on after the last offset received gets every record once, in order."""
    topic = await broker.topic()
    for value in "abcde":
        await produced(broker, topic, f"{value}1", f"{value}2")
    received: list[str] = []
    while len(received) < 10:
        fetched = await fetch(broker, topic, len(received), partition_max_bytes=150)
        values = values_of(fetched)
        if not values or len(received) + len(values) > 10:
            raise fetched.failed("records", f"records from offset {len(received)}", f"{values}")
        received += values
    if received != [f"{value}{number}" for value in "abcde" for number in (1, 2)]:
        raise fetched.failed("records", "ten records in order", f"{received}")


@check("fetch/at-end", "ReplicaManager.fetchMessages", needs=NEEDS)
async def at_end(broker: Broker) -> None:
    """A Fetch from the end of the log returns no records and no error."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    expect_values(await fetch(broker, topic, 2, max_wait_ms=0))


@check(
    "fetch/log-start-offset",
    "FetchResponse.json, LogStartOffset; KIP-107",
    needs={"Produce": 3, "Fetch": 5, "DeleteRecords": 0},
)
async def log_start_offset(broker: Broker) -> None:
    """The response has the log start offset of the partition, also after DeleteRecords."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    await produced(broker, topic, "b")
    (await fetch(broker, topic, 0)).expect(error_code="NONE", log_start_offset=0)
    (await delete_records(broker, topic, 1)).expect(error_code="NONE")
    (await fetch(broker, topic, 1)).expect(error_code="NONE", log_start_offset=1)


@check("fetch/watermarks", "FetchResponse.json; redpanda-data/redpanda#580", needs=NEEDS)
async def watermarks(broker: Broker) -> None:
    """A response without an error has high watermark and last stable offset."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    empty = await fetch(broker, topic, 2, max_wait_ms=0)
    empty.expect(error_code="NONE", high_watermark=2, last_stable_offset=2)
    (await fetch(broker, topic, 0)).expect(high_watermark=AtLeast(2))


@check(
    "fetch/read-uncommitted", "FetchResponse.json, AbortedTransactions", level=SHOULD, needs=NEEDS
)
async def read_uncommitted(broker: Broker) -> None:
    """With isolation level 0, aborted_transactions is null."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    fetched = await fetch(broker, topic, 0)
    fetched.expect(error_code="NONE", aborted_transactions=OneOf(None, []))


@check("fetch/several-partitions", "FetchRequest.json", needs=NEEDS)
async def several_partitions(broker: Broker) -> None:
    """A Fetch of several partitions returns the records of each."""
    topic, (first, second), leader = await together(broker)
    await produce(broker, topic, batch("a"), partition=first)
    await produce(broker, topic, batch("b", "c"), partition=second)
    fetched = await fetch_all(broker, topic, [(second, 0), (first, 0)], on=leader)
    expect_values(fetched[first], "a")
    expect_values(fetched[second], "b", "c")


@check("fetch/duplicate-partition", "FetchRequest", level=SHOULD, needs=NEEDS)
async def duplicate_partition(broker: Broker) -> None:
    """A partition that a Fetch names twice is returned once or twice, with its records."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    leader = await broker.leader(topic)
    fetched = await fetch_all(broker, topic, [(0, 0), (0, 0)], on=leader)
    expect_values(fetched[0], "a")


@check("fetch/no-topics", "FetchRequest.json", level=SHOULD, needs={"Fetch": 4})
async def no_topics(broker: Broker) -> None:
    """A Fetch without topics gets a response without topics at once."""
    topic = await broker.topic()
    version = await usable_version(broker, "Fetch", topic)
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=5000)
    begun = await Now()
    response = await broker.send("Fetch", version, **{**body, "topics": []})
    waited = await Now() - begun
    response.expect(responses=[])
    if waited > 3:
        raise response.failed("", "a response at once", f"{waited:.1f} s")


@check("fetch/down-conversion", "KAFKA-6739; KIP-724", level=INFO, needs={"Produce": 3, "Fetch": 0})
async def down_conversion(broker: Broker) -> None:
    """Records of magic 2 with headers are returned as magic 1 by Fetch v2 and v3."""
    version = broker.version("Fetch", 2, 3)
    topic = await broker.topic()
    data = build([Record(0, TIME_MS, b"k", b"v", (("header", b"value"),))])
    (await produce(broker, topic, data)).expect(error_code="NONE")
    fetched = await fetch(broker, topic, 0, version=version)
    expect_values(fetched, "v")
    magics = [each.magic for each in read(fetched["records"])]
    if magics != [1]:
        raise fetched.failed("records", "one message of magic 1", f"magic {magics}")


@check("fetch/empty", "FetchResponse.json", needs={"Fetch": 4})
async def empty(broker: Broker) -> None:
    """A Fetch of an empty partition gets no records, and 0 as high watermark and last stable offset."""
    topic = await broker.topic()
    fetched = await fetch(broker, topic, 0, max_wait_ms=0)
    expect_values(fetched)
    fetched.expect(high_watermark=0, last_stable_offset=0)


@check("fetch/middle-offset", "LogSegment.read", needs=NEEDS)
async def middle_offset(broker: Broker) -> None:
    """A Fetch from the middle of a log of many batches begins with the batch that has the offset."""
    topic = await broker.topic()
    for number in range(20):
        await produced(broker, topic, f"{number}a", f"{number}b")
    for offset in (0, 13, 26, 39):
        fetched = await fetch(broker, topic, offset)
        values = values_of(fetched)[:2]
        expected = [f"{offset // 2}a", f"{offset // 2}b"]
        if values != expected:
            raise fetched.failed("records", f"values {expected} first", f"{values}")


CHECKS: Final[tuple[Check, ...]] = (
    inside_batch,
    inside_last_batch,
    inside_compressed_batch,
    several_batches,
    next_offset,
    at_end,
    log_start_offset,
    watermarks,
    read_uncommitted,
    several_partitions,
    duplicate_partition,
    no_topics,
    down_conversion,
    empty,
    middle_offset,
)
