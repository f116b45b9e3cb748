"""The workload of confluent-kafka that reads, processes and writes, exactly once."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaException
from confluent_producing import again, make_producer, send, to_abort
from confluent_reading import make_consumer
from work import Missing, Reader, Work


def read_process_write(work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    missing, reader = Missing(work), Reader(work, isolation="read_committed")
    producer = make_producer(work, **{"transactional.id": work.group})
    consumer = make_consumer(work, reader, **{"isolation.level": "read_committed"})
    again(work, lambda: producer.init_transactions(work.patience))
    number = 0
    try:
        consumer.subscribe([work.topic], on_assign=lambda _, places: reader.assigned(places))
        while missing.goes_on():
            found = [one for one in consumer.consume(work.at_once, timeout=0.1) if not one.error()]
            if not found:
                continue
            number += 1
            for one in found:
                reader.consumed(one.topic(), one.partition(), one.offset(), one.value())
            if _copied(work, producer, consumer, found, str(number)):
                for one in found:
                    missing.found(one.value())
            else:
                again(work, lambda: _rewind(work, consumer, reader))
    finally:
        consumer.close()
    return work.records


def _copied(work: Work, producer: Any, consumer: Any, found: list[Any], name: str) -> bool:
    """False: it was aborted, and is to be read again."""
    producer.begin_transaction()
    try:
        failed = list[Any]()
        for one in found:
            send(work, producer, one.value().decode(), failed, name, work.output)
        places = consumer.position(consumer.assignment())
        told = [place for place in places if place.offset >= 0]
        about = consumer.consumer_group_metadata()
        again(work, lambda: producer.send_offsets_to_transaction(told, about, work.patience))
        again(work, lambda: producer.commit_transaction(work.patience))
    except KafkaException as problem:
        if not to_abort(problem):
            raise
        again(work, lambda: producer.abort_transaction(work.patience))
        work.ended(name, "aborted")
        return False
    work.ended(name, "committed")
    for place in told:
        work.committed(place.topic, place.partition, place.offset)
    return True


def _rewind(work: Work, consumer: Any, reader: Reader) -> None:
    """Read again from what the group has committed."""
    places = consumer.committed(consumer.assignment(), work.patience)
    for place in places:
        if place.offset < 0:
            place.offset = 0
        consumer.seek(place)
    reader.assigned(places)
