"""The workloads of all libraries in Python: what a producer, a consumer or an administrator does, in terms of
`library.py`.

It runs beside `lines.py`, in a venv that has the client and nothing of this project.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from library import COOPERATIVE, RETENTION, Administrator, Consumer, Ends, Library, Producer, Record
from work import GaveUpError, Missing, NotOfferedError, Reader, Work


def find(name: str, wanted: str) -> Callable[[Work], int]:
    """Return a workload of a library: its own in NAME_workloads, or else that of all libraries with
    NAME_client. Raises NotOfferedError."""
    own = getattr(_module(f"{name}_workloads"), wanted.replace("-", "_"), None)
    if own is not None:
        return own
    library = _module(f"{name}_client")
    if library is None or wanted not in WORKLOADS:
        raise NotOfferedError
    return functools.partial(WORKLOADS[wanted], library.LIBRARY)


def _module(name: str) -> Any:
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _produce(library: Library, work: Work) -> int:
    """Send records, one after the other."""
    return _send_all(work, library.producer(work, {}), work.ids)


def _idempotent(library: Library, work: Work) -> int:
    """Send records, each of which is written once."""
    own = {"enable.idempotence": True, "acks": "all"}
    return _send_all(work, library.producer(work, own), work.ids)


def _compressed(library: Library, work: Work) -> int:
    """Send records with each compression, by a producer of its own."""
    for codec, ids in work.coded:
        _send_all(work, library.producer(work, {"compression.type": codec}), ids)
    return 0


def _send_all(work: Work, producer: Producer, ids: list[str]) -> int:
    with producer:
        producer.send_all(ids, work.topic, pause=work.pause)
        producer.settle()
    return 0


def _transact(library: Library, work: Work) -> int:
    """Send records in transactions, each third aborted; one that failed is tried again."""
    with library.producer(work, {"transactional.id": work.group}) as producer:
        for number, batch in enumerate(work.batches):
            end = producer.abort if work.aborts(number) else producer.commit
            outcome = "aborted" if work.aborts(number) else "committed"
            for attempt in range(work.attempts):
                name = f"{number}.{attempt}"
                if _transaction(producer, name, batch, work.topic, end):
                    work.ended(name, outcome)
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    return 0


def _transaction(
    producer: Producer, name: str, records: list[str], topic: str, end: Callable[[], None]
) -> bool:
    """Send records in a transaction and end it; False if it failed and was aborted."""
    work = producer.work
    producer.begin()
    try:
        producer.send_all(records, topic, name)
        producer.settle()
        end()
    except producer.failures as problem:
        producer.abort_failed(problem)
        work.ended(name, "aborted")
        return False
    return True


def _assign(library: Library, work: Work) -> int:
    """Read all records of partitions that the consumer chose itself."""
    missing, reader = Missing(work, stays=False), Reader(work, group=False)
    with library.consumer(work, reader, {}) as consumer:
        while missing.goes_on():
            read(consumer, reader, missing)
    return work.records


def read(consumer: Any, reader: Reader, missing: Missing | None = None) -> list[Record]:
    """Poll once, and tell of each record."""
    found: list[Record] = consumer.poll()
    for record in found:
        reader.consumed(*record)
        if missing is not None:
            missing.found(record.value)
    return found


def ends_of(records: list[Record]) -> Ends:
    """Return the offsets behind these records."""
    return {(one.topic, one.partition): one.offset + 1 for one in records}


def _group(library: Library, work: Work) -> int:
    """Read all records in a group, and commit what was read."""
    _member(library, work, Missing(work), "reader", {})
    return work.records


def _cooperative(library: Library, work: Work) -> int:
    """Read all records by two members that keep what stays theirs in a rebalance."""
    return _two_members(library, work, {"partition.assignment.strategy": COOPERATIVE})


def _consumer_protocol(library: Library, work: Work) -> int:
    """Read all records by two members of a group of the protocol of KIP-848."""
    return _two_members(library, work, {"group.protocol": "consumer"})


def _two_members(library: Library, work: Work, own: dict[str, Any]) -> int:
    missing = Missing(work)
    missing.by_two(lambda name: _member(library, work, missing, name, own))
    return work.records


def _member(library: Library, work: Work, missing: Missing, name: str, own: dict[str, Any]) -> None:
    reader = Reader(work, name)
    with library.consumer(work, reader, {"group.id": work.group, **own}) as consumer:
        while missing.goes_on():
            found = read(consumer, reader, missing)
            if found:
                tell_committed(work, consumer.commit(ends_of(found)))


def tell_committed(work: Work, ends: Ends) -> None:
    """Tell of offsets that are known to be committed."""
    for (topic, partition), offset in ends.items():
        work.committed(topic, partition, offset)


def _share_group(library: Library, work: Work) -> int:
    """Read all records in a share group."""
    if library.share_consumer is None:
        raise NotOfferedError
    missing, reader = Missing(work), Reader(work, share=True)
    with library.share_consumer(work, reader) as consumer:
        while missing.goes_on():
            found = read(consumer, reader, missing)
            taken = consumer.commit()
            for topic, partition, offset, _ in found:
                if (topic, partition) in taken:
                    reader.accepted(topic, partition, offset)
    return work.records


def _read_process_write(library: Library, work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    missing, reader = Missing(work), Reader(work, isolation="read_committed")
    own = {"group.id": work.group, "isolation.level": "read_committed"}
    number = 0
    with (
        library.producer(work, {"transactional.id": work.group}) as producer,
        library.consumer(work, reader, own) as consumer,
    ):
        while missing.goes_on():
            found = read(consumer, reader)
            if not found:
                continue
            number += 1
            if _copied(producer, consumer, str(number), found):
                for record in found:
                    missing.found(record.value)
            else:
                for place in consumer.rewind():
                    reader.got(*place)
    return work.records


def _copied(producer: Producer, consumer: Consumer, name: str, found: list[Record]) -> bool:
    """Copy some records; False if the transaction was aborted, and they are to be read again."""
    ends, work = ends_of(found), producer.work

    def end() -> None:
        producer.send_offsets(ends, consumer)
        producer.commit()

    values = [one.value.decode() for one in found]
    if not _transaction(producer, name, values, work.output, end):
        return False
    work.ended(name, "committed")
    tell_committed(work, ends)
    return True


def _admin(library: Library, work: Work) -> int:
    """Make topics, change them, and delete them, each seen before the next step."""
    with library.administrator(work) as client:
        for number in range(work.rounds):
            _administer(work, client, f"{work.topic}-admin-{number}")
    return 0


def _administer(work: Work, client: Administrator, topic: str) -> None:
    client.create(topic)
    work.shown(f"{topic} with 2 partitions", lambda: client.partitions(topic) == 2)
    client.increase(topic)
    work.shown(f"{topic} with 3 partitions", lambda: client.partitions(topic) == 3)
    client.change(topic)
    work.shown(f"retention.ms of {topic}", lambda: client.retention(topic) == RETENTION)
    client.delete(topic)
    work.shown(f"{topic} gone", lambda: client.partitions(topic) == 0)


WORKLOADS: dict[str, Callable[[Library, Work], int]] = {
    "produce": _produce,
    "idempotent": _idempotent,
    "compressed": _compressed,
    "transact": _transact,
    "assign": _assign,
    "group": _group,
    "cooperative": _cooperative,
    "consumer-protocol": _consumer_protocol,
    "share-group": _share_group,
    "read-process-write": _read_process_write,
    "admin": _admin,
}
"""Workload -> what does it, of a library and the work. A library may have others of its own."""
