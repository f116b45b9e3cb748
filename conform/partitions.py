"""Common requests of several partitions: Produce and Fetch, with the parts of their responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.logs import BY_ID_FETCH, BY_ID_PRODUCE, fetch_fields, usable_version
from barnabas.conform.response import Response
from barnabas.conform.verdicts import Skipped


class Parts(dict[int, Response]):
    """The parts of a response by partition. Reading one that the response lacks raises Failed."""

    def __init__(self, response: Response, path: str) -> None:
        super().__init__()
        self._response = response
        self._path = path

    def __missing__(self, partition: int) -> Response:
        raise self._response.failed(
            self._path, f"partition {partition}", f"partitions {sorted(self)}"
        )


async def together(broker: Broker, count: int = 2) -> tuple[str, list[int], Connection]:
    """Create a topic; return it, some partitions with the same leader, and a connection to the leader."""
    brokers = len((await broker.metadata())["brokers"])
    topic = await broker.topic(brokers * (count - 1) + 1)
    led: dict[int, list[int]] = {}
    for row in (await broker.metadata(topic))["topics[0].partitions"]:
        led.setdefault(row["leader_id"], []).append(row["partition_index"])
    most: list[int] = max(led.values(), key=len)
    partitions = sorted(most)[:count]
    return topic, partitions, await broker.leader(topic, partitions[0])


async def other_broker(broker: Broker, topic: str) -> Connection:
    """Return a connection to a broker that does not lead partition 0 of a topic."""
    metadata = await broker.metadata(topic)
    leader = metadata["topics[0].partitions[0].leader_id"]
    for row in metadata["brokers"]:
        if row["node_id"] != leader:
            return await broker.connect((row["host"], row["port"]))
    raise Skipped("needs a cluster of two brokers")


async def produce_all(
    broker: Broker,
    topic: str,
    batches: Mapping[int, bytes],
    *,
    on: Connection | None = None,
    **fields: Any,
) -> Parts:
    """Produce a batch to each of some partitions in one request; return their parts of the response."""
    version = await usable_version(broker, "Produce", topic)
    response = await (on or broker.main).send(
        "Produce",
        version,
        **{
            "transactional_id": None,
            "acks": -1,
            "timeout_ms": 10_000,
            "topic_data": [
                {
                    **await produced_topic(broker, topic, version),
                    "partition_data": [
                        {"index": index, "records": data} for index, data in batches.items()
                    ],
                }
            ],
            **fields,
        },
    )
    return parts(response.at("responses[0]"), "partition_responses", "index")


async def produced_topic(broker: Broker, topic: str, version: int) -> dict[str, Any]:
    """Return the name or id of a topic as a Produce request of a version has it."""
    by_id = version >= BY_ID_PRODUCE
    return {"topic_id": await broker.topic_id(topic)} if by_id else {"name": topic}


async def fetched_topic(broker: Broker, topic: str, version: int) -> dict[str, Any]:
    """Return the name or id of a topic as a Fetch request of a version has it."""
    by_id = version >= BY_ID_FETCH
    return {"topic_id": await broker.topic_id(topic)} if by_id else {"topic": topic}


async def fetch_all(
    broker: Broker,
    topic: str,
    partitions: Sequence[tuple[int, int]],
    *,
    on: Connection | None = None,
    **fields: Any,
) -> Parts:
    """Fetch from offsets of partitions in one request; return their parts of the response.

    Args:
        broker: the broker under test.
        topic: the partitions' topic.
        partitions: partition and offset of each.
        on: a connection; the first one if absent.
        fields: fields of the request, or of all its partitions.
    """
    version = await usable_version(broker, "Fetch", topic)
    bodies = [
        await fetch_fields(broker, topic, offset, version, partition=partition, **fields)
        for partition, offset in partitions
    ]
    rows = [body["topics"][0]["partitions"][0] for body in bodies]
    bodies[0]["topics"][0]["partitions"] = rows
    response = await (on or broker.main).send("Fetch", version, **bodies[0])
    return parts(response.at("responses[0]"), "partitions", "partition_index")


def parts(response: Response, path: str, index: str) -> Parts:
    """Return the elements of an array by partition.

    Args:
        response: a response, or a part of one.
        path: the array's path.
        index: the field with the partition's number.
    """
    parts = Parts(response, path)
    for at, row in enumerate(response[path]):
        parts[row[index]] = response.at(f"{path}[{at}]")
    return parts
