"""Connections: order of responses, pipelining, half-closed and reset connections, values that do not fit."""

from __future__ import annotations

import struct
from typing import Final

from barnabas.conform.areas.frame import framed, header, refused, served
from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.logs import batch, expect_values, fetch, fetch_fields, produce
from barnabas.conform.operations import Close, Now, Sleep
from barnabas.specs.keys import API_VERSIONS, CREATE_TOPICS, METADATA, PRODUCE

MANY: Final = 100
"""Requests that are in flight at once."""

CONNECTIONS: Final = 64


@check("connection/responses-in-order", "SocketServer, KIP-283", needs={"Fetch": 4, "Produce": 3})
async def responses_in_order(broker: Broker) -> None:
    """Requests that follow a waiting Fetch on a connection are answered after it."""
    topic = await broker.topic()
    leader = await broker.leader(topic, fresh=True)
    version = broker.version("Fetch", 4)
    body = await fetch_fields(broker, topic, 0, version, max_wait_ms=500)
    begun = await Now()
    await leader.write("Fetch", version, **body)
    await leader.write("ApiVersions", 0)
    first = await leader.read()
    waited = await Now() - begun
    if waited < 0.3:
        raise first.failed("", "no response before max_wait_ms of 500", f"{waited:.2f} s")
    (await leader.read()).expect(error_code="NONE")


@check("connection/many-in-flight", "SocketServer")
async def many_in_flight(broker: Broker) -> None:
    """A hundred requests that are sent at once are answered in order."""
    for number in range(MANY):
        if number % 2:
            await broker.main.write("ApiVersions", 0)
        else:
            await broker.main.write("Metadata", topics=[])
    for _ in range(MANY):
        await broker.main.read()


@check("connection/many-connections", "SocketServer")
async def many_connections(broker: Broker) -> None:
    """The broker serves 64 connections at once."""
    connections = [await broker.connect() for _ in range(CONNECTIONS)]
    for connection in connections:
        await connection.write("ApiVersions", 0)
    for connection in connections:
        (await connection.read()).expect(error_code="NONE")


@check(
    "connection/pipelined-produce",
    "KIP-98, max.in.flight.requests.per.connection",
    needs={"Produce": 3, "Fetch": 4},
)
async def pipelined_produce(broker: Broker) -> None:
    """Produce requests that are in flight on one connection are stored in order."""
    topic = await broker.topic()
    leader = await broker.leader(topic, fresh=True)
    values = [f"value {number}" for number in range(5)]
    version = broker.version("Produce", 3, 12)
    for value in values:
        partition = {"index": 0, "records": batch(value)}
        await leader.write(
            "Produce",
            version,
            acks=-1,
            timeout_ms=5000,
            topic_data=[{"name": topic, "partition_data": [partition]}],
        )
    for offset in range(len(values)):
        part = (await leader.read()).at("responses[0].partition_responses[0]")
        part.expect(error_code="NONE", base_offset=offset)
    expect_values(await fetch(broker, topic, 0), *values)


@check("connection/half-closed", "Selector")
async def half_closed(broker: Broker) -> None:
    """The broker survives a client that closes its sending direction after a request."""
    other = await broker.connect()
    await other.raw(framed(header(API_VERSIONS, 0, 0)))
    await Close(other.number, "half")
    await Sleep(0.1)
    await served(broker)


@check("connection/reset", "Selector", needs={"Produce": 3, "Fetch": 4})
async def reset(broker: Broker) -> None:
    """The broker survives a connection that is reset while it sends a large response."""
    topic = await broker.topic()
    (await produce(broker, topic, batch("x" * 500_000))).expect(error_code="NONE")
    leader = await broker.leader(topic, fresh=True)
    version = broker.version("Fetch", 4)
    body = await fetch_fields(broker, topic, 0, version)
    for _ in range(4):
        await leader.write("Fetch", version, **body)
    await Close(leader.number, "reset")
    await Sleep(0.1)
    await served(broker)


@check("connection/closed-within-request", "NetworkReceive")
async def closed_within_request(broker: Broker) -> None:
    """The broker survives a connection that is closed in the middle of a request."""
    other = await broker.connect()
    await other.raw(struct.pack(">i", 1 << 20) + b"\0" * 1000)
    await other.close()
    await served(broker)


@check("connection/array-count-huge", "CVE-2022-34917, ByteBufferAccessor")
async def array_count_huge(broker: Broker) -> None:
    """An array of 2^31-1 elements is refused without memory for them, and others are served."""
    await refused(broker, framed(header(METADATA, 1, 0) + struct.pack(">i", 2**31 - 1)))


@check("connection/array-count-negative", "MetadataRequest.json, Readable")
async def array_count_negative(broker: Broker) -> None:
    """An array with a negative count where null is not allowed is refused, and others are served."""
    body = struct.pack(">i", -1) + struct.pack(">i?", 1000, True)
    version = broker.version("CreateTopics", 2, 4)
    await refused(broker, framed(header(CREATE_TOPICS, version, 0) + body))


@check("connection/string-length-negative", "Readable.readString")
async def string_length_negative(broker: Broker) -> None:
    """A null string where null is not allowed is refused, and others are served."""
    await refused(broker, framed(header(METADATA, 1, 0) + struct.pack(">ih", 1, -1)))


@check("connection/string-too-long", "Readable.readString")
async def string_too_long(broker: Broker) -> None:
    """A string that is longer than the frame is refused, and others are served."""
    await refused(broker, framed(header(METADATA, 1, 0) + struct.pack(">ih", 1, 32_767) + b"abc"))


@check("connection/records-length-huge", "ByteBufferAccessor", needs={"Produce": 3})
async def records_length_huge(broker: Broker) -> None:
    """Records that announce 2^31-1 bytes are refused, and others are served."""
    version = broker.version("Produce", 3, 8)
    body = struct.pack(">hhi", -1, -1, 1000) + struct.pack(">ih", 1, 1) + b"t"
    body += struct.pack(">iii", 1, 0, 2**31 - 1)
    await refused(broker, framed(header(PRODUCE, version, 0) + body))


@check("connection/after-refusal", "SocketServer")
async def after_refusal(broker: Broker) -> None:
    """A malformed request costs its own connection only: one that is open already is still served."""
    other = await broker.connect()
    (await other.send("ApiVersions", 0)).expect(error_code="NONE")
    await refused(broker, framed(header(METADATA, 1, 0) + struct.pack(">i", 5)))
    (await other.send("ApiVersions", 0)).expect(error_code="NONE")


CHECKS: Final[tuple[Check, ...]] = (
    responses_in_order,
    many_in_flight,
    many_connections,
    pipelined_produce,
    half_closed,
    reset,
    closed_within_request,
    array_count_huge,
    array_count_negative,
    string_length_negative,
    string_too_long,
    records_length_huge,
    after_refusal,
)
