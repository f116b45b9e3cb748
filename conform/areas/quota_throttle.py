"""Quotas of clients as the broker enforces them: throttle times, refusals."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.check import INFO, Check, check
from barnabas.conform.client_ids import send_as
from barnabas.conform.connection import SETTLE_S, Connection
from barnabas.conform.expectations import AtLeast
from barnabas.conform.logs import batch, fetch_fields, produce_fields, produced, usable_version
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.quotas import (
    CLIENT,
    CONSUMED,
    QUOTAS,
    set_quota,
)

THROTTLED_S: Final = 30.0
"""How long a response of a throttled client may take."""

RATE: Final = 500.0
"""A quota in bytes per second, which a few requests exceed."""

SIZE: Final = 4000
"""Bytes of a request: Kafka throttles by what exceeds the quota in its window of some seconds."""


@check("quota/throttle-produce", "KIP-219, KIP-546", needs={**QUOTAS, "Produce": 3})
async def throttle_produce(broker: Broker) -> None:
    """A client that produces more than its quota gets a throttle time; its records are stored."""
    await _throttled_producer(broker, await broker.topic())


async def _throttled_producer(broker: Broker, topic: str) -> tuple[str, int, dict[str, Any]]:
    """Let a client produce more than its quota; return its id, and version and fields of its Produce."""
    client = broker.name("client")
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    await set_quota(broker, {CLIENT: client}, RATE)
    body = await produce_fields(broker, topic, {0: batch("x" * SIZE)}, version)
    await _throttled(leader, client, "Produce", version, body)
    return client, version, body


async def _throttled(
    connection: Connection, client: str, api: str, version: int, body: Any
) -> None:
    """Expect a throttle time in the response of one of several requests. Raises Failed."""
    deadline = await Now() + SETTLE_S
    while True:
        response = await send_as(connection, client, api, version, THROTTLED_S, **body)
        if response["throttle_time_ms"] > 0 or await Now() > deadline:
            response.expect(throttle_time_ms=AtLeast(1))
            return
        await Sleep(0.05)


@check("quota/throttle-fetch", "KIP-219, KIP-546", needs={**QUOTAS, "Produce": 3, "Fetch": 4})
async def throttle_fetch(broker: Broker) -> None:
    """A client that fetches more than its quota gets a throttle time."""
    topic, client = await broker.topic(), broker.name("client")
    await produced(broker, topic, "x" * SIZE)
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Fetch", topic)
    await set_quota(broker, {CLIENT: client}, RATE, CONSUMED)
    body = await fetch_fields(broker, topic, 0, version)
    await _throttled(leader, client, "Fetch", version, body)


@check("quota/throttle-mutes", "KIP-219", level=INFO, needs={**QUOTAS, "Produce": 3})
async def throttle_mutes(broker: Broker) -> None:
    """The response with a throttle time comes at once; the next request is read after that time."""
    topic, client = await broker.topic(), broker.name("client")
    leader = await broker.leader(topic, fresh=True)
    version = await usable_version(broker, "Produce", topic)
    await set_quota(broker, {CLIENT: client}, RATE)
    body = await produce_fields(broker, topic, {0: batch("x" * SIZE)}, version)
    deadline = await Now() + SETTLE_S
    while True:
        begun = await Now()
        response = await send_as(leader, client, "Produce", version, THROTTLED_S, **body)
        if response["throttle_time_ms"] > 0 or await Now() > deadline:
            break
        await Sleep(0.05)
    answered = await Now()
    seconds = response.expect(throttle_time_ms=AtLeast(500))["throttle_time_ms"] / 1000
    if answered - begun > seconds:
        raise response.failed("", f"a response before {seconds:g} s", f"{answered - begun:.2f} s")
    following = await send_as(leader, client, "ApiVersions", 0, THROTTLED_S)
    muted = await Now() - answered
    if muted < seconds * 0.8:
        raise following.failed("", f"a response after {seconds:g} s", f"{muted:.2f} s")


@check("quota/throttle-others", "KIP-546", needs={**QUOTAS, "Produce": 3})
async def throttle_others(broker: Broker) -> None:
    """A quota of a client id throttles this client, and no other clients."""
    topic = await broker.topic()
    client, version, body = await _throttled_producer(broker, topic)
    connection = await broker.leader(topic, fresh=True)
    response = await send_as(connection, f"{client}-other", "Produce", version, **body)
    response.expect(throttle_time_ms=0)


@check("quota/throttle-topics", "KIP-599", needs={**QUOTAS, "CreateTopics": 6})
async def throttle_topics(broker: Broker) -> None:
    """A client that creates more partitions than its quota gets THROTTLING_QUOTA_EXCEEDED."""
    client = broker.name("client")
    await set_quota(broker, {CLIENT: client}, 1.0, "controller_mutation_rate")
    row = {"num_partitions": 20, "replication_factor": 1, "assignments": [], "configs": []}
    body = {"timeout_ms": 10_000, "validate_only": True}
    deadline = await Now() + SETTLE_S
    while True:
        topics = [{**row, "name": broker.name("topic")}]
        response = await send_as(broker.main, client, "CreateTopics", None, topics=topics, **body)
        throttled = response["topics[0].error_code"] == "THROTTLING_QUOTA_EXCEEDED"
        if throttled or await Now() > deadline:
            break
        await Sleep(0.05)
    response.at("topics[0]").expect(error_code="THROTTLING_QUOTA_EXCEEDED")
    response.expect(throttle_time_ms=AtLeast(1))


CHECKS: Final[tuple[Check, ...]] = (
    throttle_produce,
    throttle_fetch,
    throttle_mutes,
    throttle_others,
    throttle_topics,
)
