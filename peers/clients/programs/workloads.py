"""The workloads of all libraries in Python: steps of producers, consumers and administrators.

They use `library.py`. It runs beside `lines.py`, in a venv that has the client and nothing of this project.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import time
from collections.abc import Callable
from typing import Any

from library import (
    RETENTION,
    Administrator,
    Consumer,
    Library,
    Offsets,
    Producer,
    Record,
)
from work import (
    GaveUpError,
    Member,
    NotOfferedError,
    PendingRecords,
    PlannedRecord,
    Reader,
    Sends,
    Work,
)

THIRD_POLL = 3
"""Poll with records after which a member seeks; and so often, it pauses."""

PAUSED_POLLS = 2
"""Polls until a member resumes its partitions."""


def find(name: str, workload: str) -> Callable[[Work], int]:
    """Return a workload: the library's own in NAME_workloads, or the shared one with NAME_client.

    Raises:
        NotOfferedError: There is neither.
    """
    special = getattr(_module(f"{name}_workloads"), workload.replace("-", "_"), None)
    if special is not None:
        return special
    library = _module(f"{name}_client")
    if library is None or workload not in WORKLOADS:
        raise NotOfferedError
    return functools.partial(WORKLOADS[workload], library.LIBRARY)


def _module(name: str) -> Any:
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _produce(library: Library, work: Work) -> int:
    """Send records."""
    return _send_all(library.producer(work, {}), work.rounds)


def _idempotent(library: Library, work: Work) -> int:
    """Send records with an idempotent producer."""
    settings = {"enable.idempotence": True, "acks": "all"}
    return _send_all(library.producer(work, settings), work.rounds)


def _compressed(library: Library, work: Work) -> int:
    """Send records with each compression, by one producer for each."""
    for number, codec in enumerate(work.codecs):
        rounds = work.rounds[number :: len(work.codecs)]
        _send_all(library.producer(work, {"compression.type": codec}), rounds)
    return 0


def _send_all(producer: Producer, rounds: list[Sends]) -> int:
    with producer:
        for sends in rounds[:-1]:
            producer.send_all(sends)
            producer.settle()
        if rounds:
            producer.send_all(rounds[-1])
            producer.finish()
    return 0


def _transact(library: Library, work: Work) -> int:
    """Send records in transactions and abort each third; a failed one is repeated."""
    with library.producer(work, {"transactional.id": work.group}) as producer:
        for number, sends in enumerate(work.rounds):
            end = producer.abort if work.aborts(number) else producer.commit
            outcome = "aborted" if work.aborts(number) else "committed"
            for attempt in range(work.attempts):
                name = f"{number}.{attempt}"
                if _transaction(producer, name, sends, end):
                    work.ended(name, outcome)
                    break
            else:
                raise GaveUpError(f"transaction {number} was aborted {work.attempts} times")
    return 0


def _transaction(producer: Producer, name: str, sends: Sends, end: Callable[[], None]) -> bool:
    """Send records in a transaction and end it; return False if it failed and was aborted."""
    work = producer.work
    producer.begin()
    try:
        producer.send_all(sends, name)
        producer.settle()
        end()
    except producer.failures as problem:
        producer.abort_failed(problem)
        work.ended(name, "aborted")
        return False
    return True


def _assign(library: Library, work: Work) -> int:
    """Read all records of assigned partitions, without a group."""
    pending, reader = PendingRecords(work, stays=False), Reader(work, group=False)
    with library.consumer(work, reader, {}, None) as consumer:
        while pending.unfinished():
            read(consumer, reader, pending)
    return work.records


def read(consumer: Any, reader: Reader, pending: PendingRecords | None = None) -> list[Record]:
    """Poll once, and report each record."""
    records: list[Record] = consumer.poll()
    for record in records:
        reader.consumed(*record)
        if pending is not None:
            pending.received(record.value)
    return records


def end_offsets(records: list[Record]) -> Offsets:
    """Return the offsets after these records, by partition."""
    return {(record.topic, record.partition): record.offset + 1 for record in records}


def _group(library: Library, work: Work) -> int:
    """Read and commit all records by the members of a group."""
    pending = PendingRecords(work)
    pending.run_members(
        work.members, lambda member: _read_as_member(library, work, pending, member)
    )
    return work.records


def _read_as_member(library: Library, work: Work, pending: PendingRecords, member: Member) -> None:
    reader, received, polls, paused_polls = Reader(work, member.name), 0, 0, 0
    settings = {"group.id": work.group, **member.settings}
    with library.consumer(work, reader, settings, member.pattern) as consumer:
        while pending.unfinished() and not _leaves(member, received):
            records = read(consumer, reader, pending)
            if paused_polls:
                paused_polls -= 1
                if not paused_polls:
                    consumer.resume()
            if not records:
                continue
            received, polls = received + len(records), polls + 1
            time.sleep(member.delay + (member.stall if polls == 1 else 0))
            if member.rewinds and polls == THIRD_POLL:
                for partition in consumer.rewind():
                    reader.partition_assigned(*partition)
                continue
            offsets = end_offsets(records)
            if member.partial:
                first = min(offsets)
                report_committed(work, consumer.commit_some({first: offsets[first]}))
            else:
                report_committed(work, consumer.commit(offsets))
            if member.pauses and not paused_polls and polls % THIRD_POLL == 0:
                consumer.pause()
                paused_polls = PAUSED_POLLS


def _leaves(member: Member, received: int) -> bool:
    return member.leaves is not None and received >= member.leaves


def report_committed(work: Work, offsets: Offsets) -> None:
    """Report committed offsets."""
    for (topic, partition), offset in offsets.items():
        work.committed(topic, partition, offset)


def _share_group(library: Library, work: Work) -> int:
    """Read all records in a share group."""
    if library.share_consumer is None:
        raise NotOfferedError
    pending, reader = PendingRecords(work), Reader(work, share=True)
    with library.share_consumer(work, reader) as consumer:
        while pending.unfinished():
            records = read(consumer, reader, pending)
            taken = consumer.commit()
            for topic, partition, offset, _ in records:
                if (topic, partition) in taken:
                    reader.accepted(topic, partition, offset)
    return work.records


def _read_process_write(library: Library, work: Work) -> int:
    """Copy records to another topic, each in the transaction that commits its offset."""
    pending = PendingRecords(work)
    pending.run_members(
        work.members, lambda member: _copy_as_member(library, work, pending, member)
    )
    return work.records


def _copy_as_member(library: Library, work: Work, pending: PendingRecords, member: Member) -> None:
    reader = Reader(work, member.name, isolation="read_committed")
    settings = {"group.id": work.group, "isolation.level": "read_committed", **member.settings}
    first = member == work.members[0]
    transactional_id = work.group if first else f"{work.group}-{member.name}"
    number = received = 0
    with (
        library.producer(work, {"transactional.id": transactional_id}) as producer,
        library.consumer(work, reader, settings, None) as consumer,
    ):
        producer.name = member.name
        while pending.unfinished() and not _leaves(member, received):
            records = read(consumer, reader)
            if not records:
                continue
            number, received = number + 1, received + len(records)
            if _copied(producer, consumer, f"{member.name}.{number}", records):
                for record in records:
                    pending.received(record.value)
            else:
                for partition in consumer.rewind():
                    reader.partition_assigned(*partition)


def _copied(producer: Producer, consumer: Consumer, name: str, records: list[Record]) -> bool:
    """Copy records in a transaction; return False if it was aborted."""
    offsets, work = end_offsets(records), producer.work

    def end() -> None:
        producer.send_offsets(offsets, consumer)
        producer.commit()

    copies = [
        PlannedRecord(record.value.decode(), work.output, record.value, record.value)
        for record in records
    ]
    if not _transaction(producer, name, [copies], end):
        return False
    work.ended(name, "committed")
    report_committed(work, offsets)
    return True


def _admin(library: Library, work: Work) -> int:
    """Create, change and delete topics, and wait until each step is visible."""
    with library.administrator(work) as client:
        for number in range(work.admin_topics):
            _administer(work, client, f"{work.topic}-admin-{number}")
    return 0


def _administer(work: Work, client: Administrator, topic: str) -> None:
    client.create(topic)
    work.wait_until_visible(f"{topic} with 2 partitions", lambda: client.partitions(topic) == 2)
    client.increase(topic)
    work.wait_until_visible(f"{topic} with 3 partitions", lambda: client.partitions(topic) == 3)
    client.change(topic)
    work.wait_until_visible(
        f"retention.ms of {topic}", lambda: client.retention(topic) == RETENTION
    )
    client.delete(topic)
    work.wait_until_visible(f"{topic} gone", lambda: client.partitions(topic) == 0)


WORKLOADS: dict[str, Callable[[Library, Work], int]] = {
    "produce": _produce,
    "idempotent": _idempotent,
    "compressed": _compressed,
    "transact": _transact,
    "assign": _assign,
    "group": _group,
    "share-group": _share_group,
    "read-process-write": _read_process_write,
    "admin": _admin,
}
"""Function by workload. A library may have further ones of its own."""
