"""Workloads of aiokafka: those that read."""

from __future__ import annotations

from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka_producing import started
from work import Missing, Reader, Work


async def assign(work: Work) -> int:
    """Read all records of partitions that it chose itself."""
    missing, reader = Missing(work, stays=False), Reader(work, group=False)
    consumer = make_consumer(work, reader)
    places = [TopicPartition(work.topic, number) for number in range(work.partitions)]
    consumer.assign(places)
    reader.assigned(places)
    async with started(consumer):
        while missing.goes_on():
            _, found = await read(work, consumer, reader)
            for value in found:
                missing.found(value)
    return work.records


async def group(work: Work) -> int:
    """Read all records in a group, committing what was read."""
    missing, reader = Missing(work), Reader(work)
    async with started(subscribed(work, reader)) as consumer:
        while missing.goes_on():
            ends, found = await read(work, consumer, reader)
            for value in found:
                missing.found(value)
            if not ends:
                continue
            try:
                await consumer.commit(ends)
            except KafkaError:  # it was not committed: it may come again
                continue
            for (topic, partition), offset in ends.items():
                work.committed(topic, partition, offset)
    return work.records


def subscribed(work: Work, reader: Reader, **own: Any) -> Any:
    """A consumer that will join the work's group."""

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            reader.assigned(assigned)

    consumer = make_consumer(work, reader, group_id=work.group, **own)
    consumer.subscribe([work.topic], listener=Listener())
    return consumer


def make_consumer(work: Work, reader: Reader, **own: Any) -> Any:
    """One that commits by itself nothing."""
    return AIOKafkaConsumer(
        bootstrap_servers=work.bootstrap,
        client_id=reader.name,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **own,
    )


async def read(work: Work, consumer: Any, reader: Reader) -> tuple[dict[Any, int], list[bytes]]:
    """Poll once: places and the offsets behind what came there, and the values."""
    ends, values = {}, []
    found = await consumer.getmany(timeout_ms=100, max_records=work.at_once)
    for place, records in found.items():
        for one in records:
            reader.consumed(one.topic, one.partition, one.offset, one.value)
            values.append(one.value)
            ends[place] = one.offset + 1
    return ends, values
