"""The workload of kafka-python that reads, processes and writes, exactly once."""

from __future__ import annotations

from typing import Any

from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata
from kafka_python_producing import abort, acknowledged, make_producer, send
from kafka_python_reading import read, subscribed
from work import Missing, Reader, Work


def read_process_write(work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    missing, reader = Missing(work), Reader(work, isolation="read_committed")
    producer = make_producer(work, transactional_id=work.group)
    consumer = subscribed(work, reader, isolation_level="read_committed")
    number = 0
    try:
        producer.init_transactions()
        while missing.goes_on():
            ends, found = read(work, consumer, reader)
            if not found:
                continue
            number += 1
            if _copied(work, producer, consumer, found, ends, str(number)):
                for value in found:
                    missing.found(value)
            else:
                _rewind(consumer, reader)
    finally:
        consumer.close(autocommit=False)
        producer.close(timeout=1)
    return work.records


def _copied(
    work: Work,
    producer: Any,
    consumer: Any,
    found: list[bytes],
    ends: dict[Any, int],
    name: str,
) -> bool:
    """False: it was aborted, and is to be read again."""
    told = {place: OffsetAndMetadata(offset, "", -1) for place, offset in ends.items()}
    producer.begin_transaction()
    try:
        waiting = [
            (each.decode(), send(work, producer, each.decode(), name, work.output))
            for each in found
        ]
        for record, future in waiting:
            acknowledged(work, record, future, work.output)
        # releases before 3.0 know their group by its name only
        about = consumer.group_metadata() if hasattr(consumer, "group_metadata") else work.group
        producer.send_offsets_to_transaction(told, about)
        producer.commit_transaction()
    except KafkaError as problem:
        abort(work, producer, name, problem)
        return False
    work.ended(name, "committed")
    for place, offset in ends.items():
        work.committed(place.topic, place.partition, offset)
    return True


def _rewind(consumer: Any, reader: Reader) -> None:
    """Read again from what the group has committed."""
    found = {place: consumer.committed(place) or 0 for place in consumer.assignment()}
    for place in consumer.assignment() & found.keys():
        consumer.seek(place, found[place])
        reader.got(place.topic, place.partition)
