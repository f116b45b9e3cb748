"""Fetch: offsets and batches, waiting, sizes, isolation, sessions."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import (
    batch,
    expect_values,
    fetch,
    fetch_fields,
    produce,
    produced,
    values_of,
)
from barnabas.conform.operations import Now


@check(
    "fetch/inside-batch",
    "LogSegment.read",
    needs={"Produce": 3, "Fetch": 4},
    each="Fetch",
)
async def inside_batch(broker: Broker) -> None:
    """A Fetch from an offset inside a batch returns the whole batch."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    await produced(broker, topic, "c", "d")
    first = await fetch(broker, topic, 1)
    if values_of(first)[:2] != ["a", "b"]:
        raise first.failed("records", "the batch of offsets 0 and 1 first", f"{values_of(first)}")
    expect_values(await fetch(broker, topic, 3), "c", "d")


@check(
    "fetch/beyond-end",
    "UnifiedLog.read",
    needs={"Produce": 3, "Fetch": 4},
)
async def beyond_end(broker: Broker) -> None:
    """A Fetch from an offset beyond the end gets OFFSET_OUT_OF_RANGE."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    (await fetch(broker, topic, 99)).expect(error_code="OFFSET_OUT_OF_RANGE")


@check(
    "fetch/woken",
    "DelayedFetch",
    needs={"Produce": 3, "Fetch": 4},
)
async def woken(broker: Broker) -> None:
    """A waiting Fetch is answered as soon as another connection produces."""
    topic = await broker.topic()
    waiting = await broker.leader(topic, fresh=True)
    version = broker.version("Fetch", 4)
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


@check(
    "fetch/watermarks",
    "FetchResponse.json; redpanda#580",
    needs={"Produce": 3, "Fetch": 4},
)
async def watermarks(broker: Broker) -> None:
    """A response without an error has high watermark and last stable offset."""
    topic = await broker.topic()
    await produced(broker, topic, "a", "b")
    at_end = await fetch(broker, topic, 2, max_wait_ms=0)
    at_end.expect(error_code="NONE", high_watermark=2, last_stable_offset=2)
    (await fetch(broker, topic, 0)).expect(high_watermark=AtLeast(2))


CHECKS: Final[tuple[Check, ...]] = (inside_batch, beyond_end, woken, watermarks)
