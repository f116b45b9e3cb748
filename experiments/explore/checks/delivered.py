"""The promises to consumers: checks of delivered and missing records."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.checks.promise import Violations, promise
from barnabas.experiments.explore.history import (
    Accepted,
    Assigned,
    Consumed,
    History,
    OffsetCommitted,
)
from barnabas.experiments.explore.log import Log

Reader = tuple[str, str, int]
"""A group or a consumer, a topic and a partition."""


@promise("consumed from {0}, but never sent")
def phantom(history: History, log: Log) -> Violations:
    """Find records that were consumed and not sent, in topics to which this run sent something."""
    written = {topic for topic, _ in history.sent}
    for event in history.consumed:
        of_this_run = log.covers(event.topic, event.partition, event.offset)
        if event.topic in written and of_this_run and (event.topic, event.id) not in history.sent:
            yield (event.topic,), event.id


@promise("never committed, but delivered to {0}")
def read_uncommitted(history: History, log: Log) -> Violations:
    """Find records of aborted or open transactions that a read_committed consumer received.

    The log or the history shows the outcome of a transaction.
    """
    for event in history.consumed:
        isolation = history.consumer(event.consumer).isolation
        if isolation == "read_committed" and _uncommitted(event, history, log):
            yield (event.consumer,), event.id


def _uncommitted(event: Consumed, history: History, log: Log) -> bool:
    key = event.topic, event.id
    if key in history.undone:
        return True
    record = log.at.get((event.topic, event.partition, event.offset))
    if record is None or record.id != event.id:
        return False
    # records outside transactions that follow an open one are committed, too
    sends = history.sent.get(key, ())
    transactional = bool(sends) and all(send.transaction is not None for send in sends)
    return record.visible is False or (record.visible is None and transactional)


@promise("delivered to {0} after later records of {1}[{2}]")
def consumed_out_of_order(history: History, log: Log) -> Violations:
    """Find records with an offset below the preceding one that the consumer got from the partition."""
    return (
        (reader, event.id) for reader, event, before in _steps(history) if event.offset < before
    )


@promise("delivered to {0} from {1}[{2}] twice in a row")
def consumed_twice(history: History, log: Log) -> Violations:
    """Find records with the offset of the preceding one that the consumer got from the partition."""
    return (
        (reader, event.id) for reader, event, before in _steps(history) if event.offset == before
    )


def _steps(history: History) -> Iterator[tuple[Reader, Consumed, int]]:
    """Yield each consumed record with the offset of the preceding one; -1: there was none.

    A new assignment begins anew. A share group promises no order.
    """
    latest: dict[Reader, int] = {}
    for event in history.events:
        if isinstance(event, Assigned):
            latest.pop((event.consumer, event.topic, event.partition), None)
        elif isinstance(event, Consumed) and not history.consumer(event.consumer).share:
            reader = event.consumer, event.topic, event.partition
            yield reader, event, latest.get(reader, -1)
            latest[reader] = event.offset


@promise(
    "delivered to {0} from {1}[{2}] again although a later offset was committed (the first: offset {3}, "
    "committed {4})",
)
def consumed_again(history: History, log: Log) -> Violations:
    """Find records that a group received again after it had committed a higher offset.

    Records that were read and not committed may come again: that is at-least-once delivery. A record that was
    received once must not come again, even if it was committed before the consumer reported it. Records that
    were not committed when a consumer got the partition, or sought in it, may come again after a commit, too.
    """
    committed: dict[Reader, int] = {}
    received: dict[Reader, set[int]] = {}
    first: dict[Reader, tuple[int, int]] = {}
    for event in history.events:
        if isinstance(event, OffsetCommitted):
            committed[event.group, event.topic, event.partition] = event.offset
        elif isinstance(event, Assigned | Consumed):
            group = history.consumer(event.consumer).group
            if group is None:
                continue
            reader = group, event.topic, event.partition
            end, offsets = committed.get(reader, 0), received.setdefault(reader, set())
            if isinstance(event, Assigned):
                received[reader] = {offset for offset in offsets if offset < end}
                continue
            if event.offset < end and event.offset in offsets:
                yield (*reader, *first.setdefault(reader, (event.offset, end))), event.id
            offsets.add(event.offset)


@promise("delivered to {0} from {1}[{2}] although it was accepted")
def consumed_after_acceptance(history: History, log: Log) -> Violations:
    """Find records that a share group (KIP-932) received after their acknowledgement was confirmed."""
    accepted: set[tuple[Reader, int]] = set()
    for event in history.events:
        if isinstance(event, Accepted | Consumed):
            group = history.consumer(event.consumer).group or event.consumer
            reader = group, event.topic, event.partition
            if isinstance(event, Accepted):
                accepted.add((reader, event.offset))
            elif (reader, event.offset) in accepted:
                yield reader, event.id


@promise("never delivered to {0} from {1}[{2}], which it read from offset {3} on")
def skipped(history: History, log: Log) -> Violations:
    """Find records that a group should have received, and no member did.

    These are the records from the group's start to the last received or committed offset. The start is the
    first record of the run if one of the consumers resets to the earliest offset (`reset`), else the lower
    one of the first received and the first committed offset. A consumer without a group is a group of its
    own.
    """
    consumers = history.consumers.values()
    names = {consumer.consumer: consumer.group or consumer.consumer for consumer in consumers}
    whole = {names[consumer.consumer] for consumer in consumers if consumer.reset == "earliest"}
    careful = {
        names[consumer.consumer] for consumer in consumers if consumer.isolation == "read_committed"
    }
    read: dict[Reader, set[int]] = {}
    passed: dict[Reader, list[int]] = {}
    for event in history.events:
        if isinstance(event, Consumed):
            reader = names.get(event.consumer, event.consumer), event.topic, event.partition
            read.setdefault(reader, set()).add(event.offset)
            passed.setdefault(reader, []).extend((event.offset, event.offset + 1))
        elif isinstance(event, OffsetCommitted):
            passed.setdefault((event.group, event.topic, event.partition), []).append(event.offset)
    for reader, offsets in passed.items():
        name, topic, partition = reader
        begin = 0 if name in whole else min(offsets)
        for record in log.partitions.get((topic, partition), ()):
            visible = record.visible or name not in careful
            missed = record.offset not in read.get(reader, ())
            if visible and missed and begin <= record.offset < max(offsets):
                yield (*reader, begin), record.id
