"""Produce: offsets, acks, errors."""

from __future__ import annotations

from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import SHOULD, Check, check
from barnabas.conform.logs import (
    batch,
    expect_log,
    expect_values,
    fetch,
    produce,
    produced_topic,
    usable_version,
)
from barnabas.conform.partitions import (
    produce_all,
    together,
)


@check(
    "produce/base-offset",
    "ProduceResponse.json",
    needs={"Produce": 3},
    each="Produce",
)
async def base_offset(broker: Broker) -> None:
    """Each batch is answered with the offset of its first record."""
    topic = await broker.topic()
    for offset, values in ((0, "ab"), (2, "cd")):
        stored = await produce(broker, topic, batch(*values))
        stored.expect(error_code="NONE", base_offset=offset)


@check(
    "produce/acks-zero",
    "ProduceRequest.json, acks",
    needs={"Produce": 3, "Fetch": 4},
)
async def acks_zero(broker: Broker) -> None:
    """A Produce request with acks=0 gets no response."""
    topic = await broker.topic()
    version = broker.version("Produce", 3, 12)
    leader = await broker.leader(topic)
    await leader.write(
        "Produce",
        version,
        acks=0,
        timeout_ms=5000,
        topic_data=[{"name": topic, "partition_data": [{"index": 0, "records": batch("value")}]}],
    )
    leader.unanswered()
    await leader.send("ApiVersions", 0)
    expect_values(await fetch(broker, topic, 0), "value")


@check(
    "produce/acks-one",
    "ProduceRequest.json, acks",
    needs={"Produce": 3, "Fetch": 4},
)
async def acks_one(broker: Broker) -> None:
    """A Produce with acks=1 is answered, and its records can be fetched."""
    topic = await broker.topic()
    (await produce(broker, topic, batch("a"), acks=1)).expect(error_code="NONE", base_offset=0)
    expect_values(await fetch(broker, topic, 0), "a")


@check(
    "produce/response-complete",
    "ProduceResponse.json; redpanda-data/redpanda#3403",
    needs={"Produce": 3},
)
async def response_complete(broker: Broker) -> None:
    """The response names each topic and partition of the request exactly once."""
    version = broker.version("Produce", 3)
    names = [
        await produced_topic(broker, await broker.topic(2), version),
        await produced_topic(broker, await broker.topic(2), version),
    ]
    data = [{"index": index, "records": batch("a")} for index in (1, 0)]
    response = await broker.send(
        "Produce",
        version,
        acks=-1,
        timeout_ms=10_000,
        topic_data=[{**name, "partition_data": data} for name in names],
    )
    received = sorted(
        (str(topic.get("topic_id", topic.get("name"))), row["index"])
        for topic in response["responses"]
        for row in topic["partition_responses"]
    )
    expected = sorted(
        (str(value), index) for row in names for value in row.values() for index in (0, 1)
    )
    if received != expected:
        raise response.failed("responses", f"{expected}", f"{received}")


@check(
    "produce/several-partitions",
    "ProduceRequest.json",
    needs={"Produce": 3, "Fetch": 4},
)
async def several_partitions(broker: Broker) -> None:
    """A Produce to several partitions stores each batch in its own partition."""
    topic, (first, second), leader = await together(broker)
    stored = await produce_all(
        broker, topic, {second: batch("b", "c"), first: batch("a")}, on=leader
    )
    stored[first].expect(error_code="NONE", base_offset=0)
    stored[second].expect(error_code="NONE", base_offset=0)
    await expect_log(broker, topic, "a", partition=first)
    await expect_log(broker, topic, "b", "c", partition=second)


@check(
    "produce/no-topics",
    "KafkaApis.handleProduceRequest",
    level=SHOULD,
    needs={"Produce": 3},
)
async def no_topics(broker: Broker) -> None:
    """A Produce without topics gets a response without topics."""
    response = await broker.send("Produce", acks=-1, timeout_ms=5000, topic_data=[])
    response.expect(responses=[])


@check(
    "produce/pipelined",
    "SocketServer; KIP-98",
    needs={"Produce": 3, "Fetch": 4},
)
async def pipelined(broker: Broker) -> None:
    """Produce requests that are in flight together are stored and answered in order."""
    topic = await broker.topic()
    version = await usable_version(broker, "Produce", topic)
    name = await produced_topic(broker, topic, version)
    leader = await broker.leader(topic)
    for value in "abcde":
        data = [{"index": 0, "records": batch(value)}]
        await leader.write(
            "Produce",
            version,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[{**name, "partition_data": data}],
        )
    for offset in range(5):
        stored = (await leader.read()).at("responses[0].partition_responses[0]")
        stored.expect(error_code="NONE", base_offset=offset)
    await expect_log(broker, topic, *"abcde")


@check(
    "produce/log-start-offset",
    "ProduceResponse.json, LogStartOffset; KIP-107",
    level=SHOULD,
    needs={"Produce": 5, "DeleteRecords": 0},
)
async def log_start_offset(broker: Broker) -> None:
    """The response has the log start offset of the partition, also after DeleteRecords."""
    topic = await broker.topic()
    (await produce(broker, topic, batch("a", "b"))).expect(error_code="NONE", log_start_offset=0)
    await (await broker.leader(topic)).send(
        "DeleteRecords",
        topics=[{"name": topic, "partitions": [{"partition_index": 0, "offset": 1}]}],
        timeout_ms=5000,
    )
    (await produce(broker, topic, batch("c"))).expect(error_code="NONE", log_start_offset=1)


CHECKS: Final[tuple[Check, ...]] = (
    base_offset,
    acks_zero,
    acks_one,
    response_complete,
    several_partitions,
    no_topics,
    pipelined,
    log_start_offset,
)
