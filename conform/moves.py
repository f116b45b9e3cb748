"""Moves a partition to other brokers of a cluster, which gives it another leader epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.conform.broker import Broker
from barnabas.conform.offsets import LATEST, list_offsets
from barnabas.conform.operations import Now, Sleep
from barnabas.conform.partitions import leader_and_other

NEEDS: Final = {
    "AlterPartitionReassignments": 0,
    "Fetch": 9,
    "ListOffsets": 4,
    "Metadata": 7,
    "Produce": 3,
}
"""What checks need that move a partition."""

MOVED_S: Final = 10.0
"""How long a move of an almost empty partition may take."""


async def two_brokers(broker: Broker, topic: str) -> tuple[int, int]:
    """Return the leader of a topic's partition 0 and another broker. Raises Skipped."""
    leader, row = await leader_and_other(broker, topic)
    return leader, row["node_id"]


async def move(broker: Broker, topic: str, replicas: Sequence[int]) -> None:
    """Assign partition 0 to brokers, and wait until they are in sync and one of them serves it."""
    row = {"partition_index": 0, "replicas": list(replicas)}
    response = await broker.send(
        "AlterPartitionReassignments",
        timeout_ms=10_000,
        topics=[{"name": topic, "partitions": [row]}],
    )
    response.expect(error_code="NONE")
    response.at("responses[0].partitions[0]").expect(error_code="NONE")
    deadline = await Now() + MOVED_S
    while not await _moved(broker, topic, replicas):
        if await Now() > deadline:
            raise response.failed("", f"replicas {replicas} in {MOVED_S:g} s", "others")
        await Sleep(0.1)


async def _moved(broker: Broker, topic: str, replicas: Sequence[int]) -> bool:
    partition = (await broker.metadata(topic)).at("topics[0].partitions[0]")
    if sorted(partition["isr_nodes"]) != sorted(replicas) or partition["leader_id"] not in replicas:
        return False
    return bool((await list_offsets(broker, topic, LATEST))["error_code"] == "NONE")
