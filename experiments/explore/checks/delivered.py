"""What a consumer is promised: checks of records that were delivered, and of those that were not."""

from __future__ import annotations

from barnabas.experiments.explore.checks.promise import Broken, promise
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
def phantom(history: History, log: Log) -> Broken:
    """Find records that were consumed and not sent, in topics to which this run sent something."""
    written = {topic for topic, _ in history.sent}
    for event in history.consumed:
        of_this_run = log.covers(event.topic, event.partition, event.offset)
        if event.topic in written and of_this_run and (event.topic, event.id) not in history.sent:
            yield (event.topic,), event.id


@promise("never committed, but delivered to {0}")
def read_uncommitted(history: History, log: Log) -> Broken:
    """Find records that a read_committed consumer got though their transaction was aborted, as the log or
    the client says, or is still open."""
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
    # behind an open transaction stand records of none, too: they are committed
    sends = history.sent.get(key, ())
    transactional = bool(sends) and all(send.transaction is not None for send in sends)
    return record.visible is False or (record.visible is None and transactional)


@promise("delivered to {0} after later records of {1}[{2}]")
def consumed_out_of_order(history: History, log: Log) -> Broken:
    """Find records that are not behind the record that the consumer got before from that partition.

    A new assignment begins anew. A share group promises no order.
    """
    latest: dict[Reader, int] = {}
    for event in history.events:
        if isinstance(event, Assigned):
            latest.pop((event.consumer, event.topic, event.partition), None)
        elif isinstance(event, Consumed) and not history.consumer(event.consumer).share:
            reader = event.consumer, event.topic, event.partition
            if event.offset <= latest.get(reader, -1):
                yield reader, event.id
            latest[reader] = event.offset


@promise(
    "delivered to {0} from {1}[{2}] again although a later offset was committed (the first: offset {3}, "
    "committed {4})",
)
def consumed_again(history: History, log: Log) -> Broken:
    """Find records that a group had been given and knew to be behind its committed offset.

    What was read and not committed may come again: that is at least once. What was given once is not given
    again, though it was committed before the consumer told of it.
    """
    committed: dict[Reader, int] = {}
    given: set[tuple[Reader, int]] = set()
    first: dict[Reader, tuple[int, int]] = {}
    for event in history.events:
        if isinstance(event, OffsetCommitted):
            committed[event.group, event.topic, event.partition] = event.offset
        elif isinstance(event, Consumed):
            group = history.consumer(event.consumer).group
            if group is None:
                continue
            reader = group, event.topic, event.partition
            end = committed.get(reader, 0)
            if event.offset < end and (reader, event.offset) in given:
                yield (*reader, *first.setdefault(reader, (event.offset, end))), event.id
            given.add((reader, event.offset))


@promise("delivered to {0} from {1}[{2}] although it was accepted")
def consumed_after_acceptance(history: History, log: Log) -> Broken:
    """Find records that a share group (KIP-932) was given although it knew that an acknowledgement was
    taken."""
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
def skipped(history: History, log: Log) -> Broken:
    """Find records that a group was to be given, and no member was.

    These are the records from where the group was to begin up to the last that it was given or the offset
    that it committed. It was to begin with the first record of the run if one of its consumers says so
    (`reset`), else with the first that it was given or the first offset that it committed, whichever is
    less. A consumer without a group is one of its own.
    """
    consumers = history.consumers.values()
    names = {one.consumer: one.group or one.consumer for one in consumers}
    whole = {names[one.consumer] for one in consumers if one.reset == "earliest"}
    careful = {names[one.consumer] for one in consumers if one.isolation == "read_committed"}
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
            wanted = record.visible or name not in careful
            missed = record.offset not in read.get(reader, ())
            if wanted and missed and begin <= record.offset < max(offsets):
                yield (*reader, begin), record.id
