"""Common requests about the log of one partition: Produce, Fetch, ListOffsets, in any version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.expectations import Missing, shown, value_at
from barnabas.conform.response import Response
from barnabas.specs.records import Batch, Record, build, read

TIME_MS: Final = 1_700_000_000_000
"""The timestamp of records, unless a check gives another."""

BY_ID_PRODUCE: Final = 13
BY_ID_FETCH: Final = 13
"""From these versions on topics have ids instead of names (KIP-516)."""

FETCHED: Final = "responses[0].partitions[0]"
"""The path of a partition in a Fetch response."""


def batch(
    *values: str, time_ms: int = TIME_MS, timestamps: Sequence[int] = (), **header: Any
) -> bytes:
    """Build a record batch of text values; `header` has fields of `barnabas.specs.records.build`.

    Args:
        values: the values of the records.
        time_ms: the time of all records. Batches with a producer id need the current time: Apache Kafka
            forgets producers whose last record is a day old (producer.id.expiration.ms).
        timestamps: the time of each record, in place of `time_ms`.
        header: fields of `barnabas.specs.records.build`.
    """
    times = timestamps or [time_ms] * len(values)
    records = [
        Record(offset, timestamp, None, value.encode())
        for offset, (timestamp, value) in enumerate(zip(times, values, strict=True))
    ]
    return build(records, **header)


async def produce(
    broker: Broker,
    topic: str,
    data: bytes | None,
    *,
    version: int | None = None,
    partition: int = 0,
    on: Connection | None = None,
    **fields: Any,
) -> Response:
    """Produce bytes to a partition with acks=all, and return the partition's part of the response."""
    chosen = await usable_version(broker, "Produce", topic) if version is None else version
    body = await produce_fields(broker, topic, {partition: data}, chosen, **fields)
    response = await (on or await broker.leader(topic, partition)).send("Produce", chosen, **body)
    return response.at("responses[0].partition_responses[0]")


async def produce_fields(
    broker: Broker, topic: str, batches: Mapping[int, bytes | None], version: int, **fields: Any
) -> dict[str, Any]:
    """Return the body of a Produce with acks=all of some partitions of a topic.

    Args:
        broker: the broker under test.
        topic: the topic.
        batches: partition -> record batches.
        version: the version of Produce.
        fields: other fields of the request.
    """
    rows = [{"index": partition, "records": data} for partition, data in batches.items()]
    return {
        "transactional_id": None,
        "acks": -1,
        "timeout_ms": 10_000,
        "topic_data": [{**await produced_topic(broker, topic, version), "partition_data": rows}],
        **fields,
    }


async def produced_topic(broker: Broker, topic: str, version: int) -> dict[str, Any]:
    """Return the name or id of a topic as a Produce request of a version has it."""
    by_id = version >= BY_ID_PRODUCE
    return {"topic_id": await broker.topic_id(topic)} if by_id else {"name": topic}


async def produced(broker: Broker, topic: str, *values: str, **header: Any) -> int:
    """Produce a batch that must be stored, and return its base offset."""
    response = await produce(broker, topic, batch(*values, **header))
    base: int = response.expect(error_code="NONE")["base_offset"]
    return base


async def fetch_fields(
    broker: Broker,
    topic: str,
    offsets: int | Iterable[tuple[int, int]],
    version: int,
    *,
    partition: int = 0,
    **fields: Any,
) -> dict[str, Any]:
    """Return the body of a Fetch of partitions of a topic, outside of fetch sessions.

    Args:
        broker: the broker under test.
        topic: the partitions' topic.
        offsets: an offset of `partition`, or partition and offset of each partition.
        version: the version of Fetch.
        partition: the partition of an offset.
        fields: other fields of the request, or of all its partitions.
    """
    defaults = {
        "current_leader_epoch": -1,
        "last_fetched_epoch": -1,
        "log_start_offset": -1,
        "partition_max_bytes": 1 << 20,
    }
    changes = {name: fields.pop(name) for name in list(fields) if name in defaults}
    rows = [
        {**defaults, "partition": index, "fetch_offset": offset, **changes}
        for index, offset in ([(partition, offsets)] if isinstance(offsets, int) else offsets)
    ]
    name = await fetched_topic(broker, topic, version) if rows else {}
    return {
        "replica_id": -1,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "max_bytes": 50 << 20,
        "isolation_level": 0,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [{**name, "partitions": rows}] if rows else [],
        "forgotten_topics_data": [],
        "rack_id": "",
        **fields,
    }


async def fetched_topic(broker: Broker, topic: str, version: int) -> dict[str, Any]:
    """Return the name or id of a topic as a Fetch request of a version has it."""
    by_id = version >= BY_ID_FETCH
    return {"topic_id": await broker.topic_id(topic)} if by_id else {"topic": topic}


async def fetch(
    broker: Broker,
    topic: str,
    offset: int,
    *,
    version: int | None = None,
    on: Connection | None = None,
    **fields: Any,
) -> Response:
    """Fetch from an offset, and return the partition's part of the response."""
    response = await fetch_response(broker, topic, offset, version=version, on=on, **fields)
    return response.at(FETCHED)


async def fetch_response(
    broker: Broker,
    topic: str,
    offset: int,
    *,
    version: int | None = None,
    on: Connection | None = None,
    **fields: Any,
) -> Response:
    """Fetch from an offset, and return the whole response."""
    chosen = await usable_version(broker, "Fetch", topic) if version is None else version
    body = await fetch_fields(broker, topic, offset, chosen, **fields)
    leader = on or await broker.leader(topic, fields.get("partition", 0))
    return await leader.send("Fetch", chosen, **body)


async def usable_version(broker: Broker, api: str, topic: str) -> int:
    """Return the newest version of Produce or Fetch that a client uses for a topic.

    Like Apache's clients, checks name a topic that has no id in Metadata, though the broker offers versions
    with ids.
    """
    oldest, by_id = {"Produce": (3, BY_ID_PRODUCE), "Fetch": (4, BY_ID_FETCH)}[api]
    newest = broker.version(api, oldest)
    if newest < by_id or broker.versions[api][0] >= by_id:
        return newest
    has_id = broker.version("Metadata") >= 10 and (await broker.topic_id(topic)).int != 0
    return newest if has_id else by_id - 1


def records_of(partition: Response) -> list[Record]:
    """Return the records in a partition's part of a Fetch response. Raises Failed if they are unreadable."""
    data = partition["records"]
    try:
        return [record for each in read(data or b"") for record in each.records()]
    except ValueError as problem:
        raise partition.failed("records", "readable record batches", str(problem)) from None


def values_of(partition: Response) -> list[str]:
    """Return the values of records as text. Raises Failed if there is an error, or they are unreadable."""
    partition.expect(error_code="NONE")
    return [(record.value or b"").decode("utf-8", "replace") for record in records_of(partition)]


def expect_values(partition: Response, *values: str) -> None:
    """Expect records with these values, in order. Raises Failed."""
    received = values_of(partition)
    if received != list(values):
        raise partition.failed("records", f"values {shown(list(values))}", shown(received))


async def read_log(broker: Broker, topic: str, partition: int = 0) -> tuple[list[Batch], Response]:
    """Read a partition from offset 0 to its end, in as many Fetches as the broker needs.

    Returns:
        The batches, and the partition's part of the last response (the whole one if it has no part).
    """
    batches: list[Batch] = []
    while True:
        offset = batches[-1].last_offset + 1 if batches else 0
        response = await fetch_response(broker, topic, offset, partition=partition, max_wait_ms=0)
        if isinstance(value_at(response.body, FETCHED), Missing):
            return batches, response
        fetched = response.at(FETCHED).expect(error_code="NONE")
        records_of(fetched)
        following = [each for each in read(fetched["records"] or b"") if each.last_offset >= offset]
        batches += following
        if not following or 0 < fetched["high_watermark"] <= following[-1].last_offset + 1:
            return batches, fetched


async def expect_log(broker: Broker, topic: str, *values: str, partition: int = 0) -> None:
    """Expect that a partition holds records with these values. Raises Failed."""
    batches, fetched = await read_log(broker, topic, partition)
    records = [record for each in batches for record in each.records()]
    received = [(record.value or b"").decode("utf-8", "replace") for record in records]
    if received != list(values):
        raise fetched.failed(
            "records", f"values {shown(list(values))} in the partition", f"values {shown(received)}"
        )
