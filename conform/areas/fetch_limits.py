"""Fetch: waiting for records, and limits of a response's size."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import (
    batch,
    expect_values,
    fetch,
    fetch_fields,
    produce,
    produced,
    usable_version,
    values_of,
)
from barnabas.conform.operations import Now
from barnabas.conform.partitions import fetch_all, parts, together

NEEDS: Final = {"Produce": 3, "Fetch": 4}

LARGE: Final = "x" * 3000
"""A value that is larger than the limits of the checks."""


@check("fetch/woken", "DelayedFetch", needs=NEEDS)
async def woken(broker: Broker) -> None:
    """A waiting Fetch is answered as soon as another connection produces."""
    topic = await broker.topic()
    waiting = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Fetch", topic)
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=5000)
    begun = await Now()
    await waiting.write("Fetch", version, **body)
    await waiting.expect_silence(0.3)
    await produce(broker, topic, batch("a"))
    response = await waiting.read()
    waited = await Now() - begun
    if waited > 3:
        raise response.failed("", "a response as soon as records arrive", f"{waited:.1f} s")
    expect_values(response.at("responses[0].partitions[0]"), "a")


@check("fetch/max-wait", "FetchRequest.json, MaxWaitMs", needs={"Fetch": 4})
async def max_wait(broker: Broker) -> None:
    """A Fetch without new records is answered after max_wait_ms, not earlier."""
    topic = await broker.topic()
    begun = await Now()
    fetched = await fetch(broker, topic, 0, max_wait_ms=800)
    waited = await Now() - begun
    expect_values(fetched)
    if not 0.7 <= waited <= 4:
        raise fetched.failed("", "a response after 0.8 s", f"{waited:.1f} s")


@check("fetch/max-wait-zero", "FetchRequest.json, MaxWaitMs", needs={"Fetch": 4})
async def max_wait_zero(broker: Broker) -> None:
    """A Fetch with max_wait_ms=0 is answered at once, even if there are fewer bytes than min_bytes."""
    topic = await broker.topic()
    begun = await Now()
    fetched = await fetch(broker, topic, 0, max_wait_ms=0, min_bytes=10_000)
    waited = await Now() - begun
    expect_values(fetched)
    if waited > 3:
        raise fetched.failed("", "a response at once", f"{waited:.1f} s")


@check("fetch/min-bytes-zero", "FetchRequest.json, MinBytes", needs={"Fetch": 4})
async def min_bytes_zero(broker: Broker) -> None:
    """A Fetch with min_bytes=0 is answered at once."""
    topic = await broker.topic()
    begun = await Now()
    fetched = await fetch(broker, topic, 0, max_wait_ms=5000, min_bytes=0)
    waited = await Now() - begun
    expect_values(fetched)
    if waited > 3:
        raise fetched.failed("", "a response at once", f"{waited:.1f} s")


@check("fetch/min-bytes", "FetchRequest.json, MinBytes", level=SHOULD, needs=NEEDS)
async def min_bytes(broker: Broker) -> None:
    """A Fetch waits as long as there are fewer bytes than min_bytes, then returns what there is."""
    topic = await broker.topic()
    await produced(broker, topic, "a")
    begun = await Now()
    fetched = await fetch(broker, topic, 0, max_wait_ms=800, min_bytes=10_000)
    waited = await Now() - begun
    expect_values(fetched, "a")
    if not 0.7 <= waited <= 4:
        raise fetched.failed("", "a response after 0.8 s", f"{waited:.1f} s")


@check("fetch/min-bytes-reached", "DelayedFetch", needs=NEEDS)
async def min_bytes_reached(broker: Broker) -> None:
    """A waiting Fetch is answered once its partition has min_bytes."""
    topic = await broker.topic()
    waiting = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Fetch", topic)
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=6000, min_bytes=2000)
    begun = await Now()
    await waiting.write("Fetch", version, **body)
    await produce(broker, topic, batch("a"))
    await produce(broker, topic, batch(LARGE))
    response = await waiting.read()
    waited = await Now() - begun
    if waited > 4:
        raise response.failed("", "a response once there are 2,000 bytes", f"{waited:.1f} s")
    values = values_of(response.at("responses[0].partitions[0]"))
    if values[:1] != ["a"]:
        raise response.failed("responses[0].partitions[0].records", "both batches", f"{values}")


@check("fetch/error-at-once", "DelayedFetch", level=SHOULD, needs={"Fetch": 4})
async def error_at_once(broker: Broker) -> None:
    """A Fetch with an offset out of range next to an empty partition is answered at once."""
    topic, (first, second), leader = await together(broker)
    begun = await Now()
    fetched = await fetch_all(broker, topic, [(first, 0), (second, 9)], on=leader, max_wait_ms=5000)
    waited = await Now() - begun
    refused = fetched[second].expect(error_code="OFFSET_OUT_OF_RANGE")
    if waited > 3:
        raise refused.failed("", "a response at once", f"{waited:.1f} s")


@check("fetch/first-batch-too-large", "KIP-74", needs=NEEDS)
async def first_batch_too_large(broker: Broker) -> None:
    """The first batch is returned even if it is larger than the limits of the request."""
    topic = await broker.topic()
    await produced(broker, topic, LARGE)
    fetched = await fetch(broker, topic, 0, max_bytes=100, partition_max_bytes=100)
    expect_values(fetched, LARGE)


@check("fetch/max-bytes", "KIP-74", level=SHOULD, needs=NEEDS)
async def max_bytes(broker: Broker) -> None:
    """With a small max_bytes only one partition returns records."""
    topic, (first, second), leader = await together(broker)
    for partition in (first, second):
        await produce(broker, topic, batch(LARGE), partition=partition)
    fetched = await fetch_all(broker, topic, [(first, 0), (second, 0)], on=leader, max_bytes=1000)
    sizes = [len(fetched[partition]["records"] or b"") for partition in (first, second)]
    if not sizes[0] > 3000 or sizes[1]:
        raise fetched[second].failed(
            "records", "records of the first partition only", f"sizes {sizes}"
        )


@check("fetch/partition-max-bytes", "KIP-74", level=SHOULD, needs=NEEDS)
async def partition_max_bytes(broker: Broker) -> None:
    """A partition returns at most partition_max_bytes, if its first batch is smaller."""
    topic = await broker.topic()
    for _ in range(4):
        await produced(broker, topic, "x" * 1000)
    fetched = await fetch(broker, topic, 0, partition_max_bytes=2500)
    fetched.expect(error_code="NONE")
    size = len(fetched["records"] or b"")
    if not 1000 < size <= 2500:
        raise fetched.failed("records", "between 1,000 and 2,500 bytes", f"{size} bytes")


@check("fetch/partition-order", "KIP-74", level=SHOULD, needs=NEEDS)
async def partition_order(broker: Broker) -> None:
    """A response without space for all partitions has the records of the request's first one."""
    topic, (first, second), leader = await together(broker)
    for partition in (first, second):
        await produce(broker, topic, batch(LARGE), partition=partition)
    for order in ((first, second), (second, first)):
        fetched = await fetch_all(
            broker, topic, [(partition, 0) for partition in order], on=leader, max_bytes=1000
        )
        expect_values(fetched[order[0]], LARGE)


@check("fetch/empty-then-full", "KIP-74", needs=NEEDS)
async def empty_then_full(broker: Broker) -> None:
    """An empty partition in front of another one does not keep the other one's batch from being returned."""
    topic, (first, second), leader = await together(broker)
    await produce(broker, topic, batch(LARGE), partition=second)
    fetched = await fetch_all(
        broker, topic, [(first, 0), (second, 0)], on=leader, max_bytes=100, partition_max_bytes=100
    )
    expect_values(fetched[second], LARGE)


@check("fetch/woken-by-second-partition", "DelayedFetch", needs=NEEDS)
async def woken_by_second_partition(broker: Broker) -> None:
    """A Fetch that waits for several partitions is answered as soon as one of them has records."""
    topic, (first, second), _ = await together(broker)
    version = await usable_version(broker, "Fetch", topic)
    body = await fetch_fields(broker, topic, 0, version, partition=first, max_wait_ms=20_000)
    rows = body["topics"][0]["partitions"]
    body["topics"][0]["partitions"] = [rows[0], {**rows[0], "partition": second}]
    waiting = await broker.leader(topic, first, fresh=True)
    await waiting.write("Fetch", version, **body)
    await waiting.expect_silence(0.2)
    await produce(broker, topic, batch("a"), partition=second)
    response = await waiting.read(5)
    received = parts(response.at("responses[0]"), "partitions", "partition_index")
    expect_values(received[second], "a")


CHECKS: Final[tuple[Check, ...]] = (
    woken,
    max_wait,
    max_wait_zero,
    min_bytes_zero,
    min_bytes,
    min_bytes_reached,
    error_at_once,
    first_batch_too_large,
    max_bytes,
    partition_max_bytes,
    partition_order,
    empty_then_full,
    woken_by_second_partition,
)
