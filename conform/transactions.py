"""A transactional producer's requests, in any version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from barnabas.conform.broker import Broker
from barnabas.conform.connection import Connection
from barnabas.conform.logs import batch, produce
from barnabas.conform.response import Response

TRANSACTIONAL_ID: Final = 1
"""The type of a transactional id's key in FindCoordinator."""

IMPLICIT: Final = 12
"""From this version on Produce adds its partitions to the transaction (KIP-890)."""

IMPLICIT_OFFSETS: Final = 5
"""From this version on TxnOffsetCommit adds its group to the transaction (KIP-890)."""

BATCHED: Final = 4
"""From this version on AddPartitionsToTxn is for brokers only (KIP-890)."""

BUMPS: Final = 5
"""From this version on EndTxn increments the producer's epoch (KIP-890)."""


@dataclass(slots=True)
class TransactionalProducer:
    """A producer with a transactional id, its coordinator, producer id and epoch."""

    broker: Broker
    name: str
    coordinator: Connection
    producer_id: int = -1
    epoch: int = -1
    sequence: int = 0

    async def init(
        self, timeout_ms: int = 60_000, version: int | None = None, **fields: Any
    ) -> Response:
        """Send InitProducerId; on success keep id and epoch."""
        chosen = self.broker.version("InitProducerId", 0, 5) if version is None else version
        response = await self.coordinator.send(
            "InitProducerId",
            chosen,
            **{
                "transactional_id": self.name,
                "transaction_timeout_ms": timeout_ms,
                "producer_id": -1,
                "producer_epoch": -1,
                **fields,
            },
        )
        if response["error_code"] == "NONE":
            self.producer_id, self.epoch = response["producer_id"], response["producer_epoch"]
            self.sequence = 0
        return response

    async def add(self, *topics: str, version: int | None = None) -> Response:
        """Add partition 0 of topics to the transaction, and return the first topic's part."""
        chosen = (
            self.broker.version("AddPartitionsToTxn", 0, BATCHED - 1)
            if version is None
            else version
        )
        response = await self.coordinator.send(
            "AddPartitionsToTxn",
            chosen,
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[{"name": topic, "partitions": [0]} for topic in topics],
        )
        return response.at("results_by_topic_v3_and_below[0].results_by_partition[0]")

    async def produce(self, topic: str, *values: str, version: int | None = None) -> Response:
        """Produce to partition 0 in the transaction, and return the partition's part.

        By default the version is one that needs `add` before.
        """
        data = batch(
            *values,
            time_ms=self.broker.time_ms,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self.sequence,
            is_transactional=True,
        )
        chosen = self.broker.version("Produce", 3, IMPLICIT - 1) if version is None else version
        response = await produce(
            self.broker, topic, data, version=chosen, transactional_id=self.name
        )
        if response["error_code"] == "NONE":
            self.sequence += len(values)
        return response

    async def end(self, *, commit: bool, version: int | None = None) -> Response:
        """Send EndTxn; keep the epoch that newer versions return."""
        chosen = self.broker.version("EndTxn", 0, BUMPS - 1) if version is None else version
        response = await self.coordinator.send(
            "EndTxn",
            chosen,
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=commit,
        )
        if chosen >= BUMPS and response["error_code"] == "NONE":
            self.producer_id, self.epoch = response["producer_id"], response["producer_epoch"]
            self.sequence = 0
        return response

    async def add_group(self, group: str) -> Response:
        """Send AddOffsetsToTxn."""
        return await self.coordinator.send(
            "AddOffsetsToTxn",
            transactional_id=self.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=group,
        )

    async def describe(self) -> Response:
        """Send DescribeTransactions, and return the transactional id's part of the response."""
        response = await self.coordinator.send(
            "DescribeTransactions", transactional_ids=[self.name]
        )
        return response.at("transaction_states[0]")

    async def commit_offset(
        self,
        group: str,
        topic: str,
        offset: int,
        *,
        add: bool = True,
        version: int | None = None,
        **fields: Any,
    ) -> Response:
        """Send TxnOffsetCommit for partition 0, and return the partition's part.

        Args:
            group: the group's id.
            topic: the topic's name.
            offset: the offset.
            add: send AddOffsetsToTxn before.
            version: the version; without, the newest one that needs AddOffsetsToTxn.
            fields: other fields of the request.
        """
        if add:
            (await self.add_group(group)).expect(error_code="NONE")
        chosen = (
            self.broker.version("TxnOffsetCommit", 0, IMPLICIT_OFFSETS - 1)
            if version is None
            else version
        )
        response = await (await self.broker.coordinator(group)).send(
            "TxnOffsetCommit",
            chosen,
            **{
                "transactional_id": self.name,
                "group_id": group,
                "producer_id": self.producer_id,
                "producer_epoch": self.epoch,
                "generation_id_or_member_epoch": -1,
                "member_id": "",
                "group_instance_id": None,
                "topics": [
                    {
                        "name": topic,
                        "partitions": [
                            {
                                "partition_index": 0,
                                "committed_offset": offset,
                                "committed_leader_epoch": -1,
                                "committed_metadata": "",
                            }
                        ],
                    }
                ],
                **fields,
            },
        )
        return response.at("topics[0].partitions[0]")


async def producer(broker: Broker, name: str | None = None, **fields: Any) -> TransactionalProducer:
    """Return an initialised transactional producer, of a fresh transactional id or a given one."""
    made = await uninitialised(broker, name)
    (await made.init(**fields)).expect(error_code="NONE")
    return made


async def uninitialised(broker: Broker, name: str | None = None) -> TransactionalProducer:
    """Return a transactional producer that has not sent InitProducerId."""
    name = name or broker.name("transaction")
    return TransactionalProducer(broker, name, await broker.coordinator(name, TRANSACTIONAL_ID))


async def written(
    broker: Broker,
    topic: str,
    values: Sequence[str],
    *,
    commit: bool | None,
    name: str | None = None,
) -> TransactionalProducer:
    """Write values in a transaction; commit it, abort it, or leave it open (None)."""
    made = await producer(broker, name)
    (await made.add(topic)).expect(partition_error_code="NONE")
    (await made.produce(topic, *values)).expect(error_code="NONE")
    if commit is not None:
        (await made.end(commit=commit)).expect(error_code="NONE")
    return made
