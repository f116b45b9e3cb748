"""The workload of aiokafka that reads, processes and writes, exactly once."""

from __future__ import annotations

from typing import Any

from aiokafka.errors import KafkaError
from aiokafka_producing import abort, acknowledged, in_time, make_producer, send, started
from aiokafka_reading import read, subscribed
from work import Missing, Reader, Work


async def read_process_write(work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    missing, reader = Missing(work), Reader(work, isolation="read_committed")
    reading = started(subscribed(work, reader, isolation_level="read_committed"))
    number = 0
    async with make_producer(work, transactional_id=work.group) as producer, reading as consumer:
        while missing.goes_on():
            ends, found = await read(work, consumer, reader)
            if not found:
                continue
            number += 1
            if await _copied(work, producer, found, ends, str(number)):
                for value in found:
                    missing.found(value)
            else:
                await _rewind(consumer, reader)
    return work.records


async def _copied(
    work: Work, producer: Any, found: list[bytes], ends: dict[Any, int], name: str
) -> bool:
    """False: it was aborted, and is to be read again."""
    await in_time(work, producer.begin_transaction())
    try:
        waiting = [
            (each.decode(), await send(work, producer, each.decode(), name, work.output))
            for each in found
        ]
        for record, future in waiting:
            await acknowledged(work, record, future, work.output)
        await in_time(work, producer.send_offsets_to_transaction(ends, work.group))
        await in_time(work, producer.commit_transaction())
    except KafkaError as problem:
        await abort(work, producer, name, problem)
        return False
    work.ended(name, "committed")
    for (topic, partition), offset in ends.items():
        work.committed(topic, partition, offset)
    return True


async def _rewind(consumer: Any, reader: Reader) -> None:
    """Read again from what the group has committed."""
    found = {place: await consumer.committed(place) or 0 for place in consumer.assignment()}
    for place in consumer.assignment() & found.keys():
        consumer.seek(place, found[place])
        reader.got(place.topic, place.partition)
