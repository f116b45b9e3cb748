"""Common requests of idempotent producers (KIP-98)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from barnabas.conform.broker import Broker
from barnabas.conform.logs import batch, produce
from barnabas.conform.response import Response


@dataclass(frozen=True, slots=True)
class IdempotentProducer:
    """An idempotent producer: its id and epoch, and the topic that it writes to."""

    broker: Broker
    topic: str
    id: int
    epoch: int = 0

    async def send(
        self, sequence: int, *values: str, epoch: int | None = None, **fields: Any
    ) -> Response:
        """Produce a batch, and return the partition's part of the response.

        Args:
            sequence: the sequence number of the batch's first record.
            values: the values of the records.
            epoch: the producer's epoch; absent: the producer's own.
            fields: arguments of `logs.produce`.
        """
        data = batch(
            *values,
            time_ms=self.broker.time_ms,
            producer_id=self.id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=sequence,
        )
        return await produce(self.broker, self.topic, data, **fields)

    async def sent(self, sequence: int, *values: str, epoch: int | None = None) -> int:
        """Produce a batch that must be stored, and return its base offset."""
        response = await self.send(sequence, *values, epoch=epoch)
        base: int = response.expect(error_code="NONE")["base_offset"]
        return base


async def init_producer_id(broker: Broker) -> Response:
    """Ask for a producer id without a transactional id."""
    return await broker.send(
        "InitProducerId",
        transactional_id=None,
        transaction_timeout_ms=60_000,
        producer_id=-1,
        producer_epoch=-1,
    )


async def new_producer(broker: Broker, topic: str = "") -> IdempotentProducer:
    """Return a producer with an id of its own, writing to a topic; without one, to a new topic."""
    response = (await init_producer_id(broker)).expect(error_code="NONE")
    return IdempotentProducer(
        broker,
        topic or await broker.topic(),
        response["producer_id"],
        response["producer_epoch"],
    )
