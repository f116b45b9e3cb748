"""Common requests of several partitions: Produce and Fetch, with the parts of their responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.logs import fetch_fields, produce_fields, usable_version
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


async def leader_and_other(broker: Broker, topic: str) -> tuple[int, dict[str, Any]]:
    """Return the leader's id of partition 0 of a topic, and Metadata's row of another broker.

    Raises:
        Skipped: there is one broker only.
    """
    metadata = await broker.metadata(topic)
    leader: int = metadata["topics[0].partitions[0].leader_id"]
    for row in metadata["brokers"]:
        if row["node_id"] != leader:
            return leader, row
    raise Skipped("needs a cluster of two brokers")


async def other_broker(broker: Broker, topic: str) -> Connection:
    """Return a connection to a broker that does not lead partition 0 of a topic. Raises Skipped."""
    _, row = await leader_and_other(broker, topic)
    return await broker.connect((row["host"], row["port"]))


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
    body = await produce_fields(broker, topic, batches, version, **fields)
    response = await (on or broker.main).send("Produce", version, **body)
    return parts(response.at("responses[0]"), "partition_responses", "index")


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
    body = await fetch_fields(broker, topic, partitions, version, **fields)
    response = await (on or broker.main).send("Fetch", version, **body)
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
