"""The workload of the Java client that reads, processes and writes, exactly once."""

from __future__ import annotations

from typing import Any

import jpype
from java_producing import (
    ABORTABLE,
    CLIENTS,
    FATAL,
    acknowledged,
    close,
    commit,
    make_producer,
    send,
)
from java_reading import read, subscribed
from work import Missing, Reader, Work

_COMMON = jpype.JPackage("org.apache.kafka.common")


def read_process_write(work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    missing, reader = Missing(work), Reader(work, isolation="read_committed")
    producer = make_producer(work, transactional_id=work.group)
    consumer = subscribed(work, reader, isolation_level="read_committed")
    number = 0
    try:
        producer.initTransactions()
        while missing.goes_on():
            found: list[bytes] = []
            ends = read(consumer, reader, found.append)
            if not found:
                continue
            number += 1
            if _copied(work, producer, consumer, found, ends, str(number)):
                for value in found:
                    missing.found(value)
            else:
                _rewind(consumer, reader)
    finally:
        close(consumer)
        close(producer)
    return work.records


def _copied(
    work: Work,
    producer: Any,
    consumer: Any,
    found: list[bytes],
    ends: dict[tuple[str, int], int],
    name: str,
) -> bool:
    """False: it was aborted, and is to be read again."""
    told = jpype.java.util.HashMap()
    for place, offset in ends.items():
        told.put(_COMMON.TopicPartition(*place), CLIENTS.consumer.OffsetAndMetadata(offset))
    producer.beginTransaction()
    try:
        waiting = [
            (each.decode(), send(work, producer, each.decode(), name, work.output))
            for each in found
        ]
        for record, future in waiting:
            acknowledged(work, record, future, work.output)
        # releases before 2.5 know their group by its name only
        about = consumer.groupMetadata() if hasattr(consumer, "groupMetadata") else work.group
        producer.sendOffsetsToTransaction(told, about)
        commit(work, producer)
    except FATAL:
        raise
    except ABORTABLE:
        producer.abortTransaction()
        work.ended(name, "aborted")
        return False
    work.ended(name, "committed")
    for (topic, partition), offset in ends.items():
        work.committed(topic, partition, offset)
    return True


def _rewind(consumer: Any, reader: Reader) -> None:
    """Read again from what the group has committed."""
    for place, at in consumer.committed(consumer.assignment()).items():
        if at is None:
            consumer.seekToBeginning(jpype.java.util.Arrays.asList(place))
        else:
            consumer.seek(place, at)
        reader.got(str(place.topic()), int(place.partition()))
