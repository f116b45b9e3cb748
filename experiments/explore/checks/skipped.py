"""`skipped`: a group went past a record that none of its members was given."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Consumed, History, OffsetCommitted
from barnabas.experiments.explore.log import Log

Reader = tuple[str, str, int]
"""A group (or a consumer without one), a topic and a partition."""


def skipped(history: History, log: Log) -> Iterator[Finding]:
    """Records from where a group was to begin up to the last that it was given or the offset that it
    committed, which it was to see and did not. A consumer without a group is one of its own.

    It was to begin with the first record of the run if one of its consumers says so (`reset`), else
    with the first that it was given or the first offset that it committed, whichever is less.
    """
    names = {one.consumer: one.group or one.consumer for one in history.consumers.values()}
    whole = {names[one.consumer] for one in history.consumers.values() if one.reset == "earliest"}
    careful = {
        names[one.consumer]
        for one in history.consumers.values()
        if one.isolation == "read_committed"
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
    for reader, offsets in sorted(passed.items()):
        name, topic, partition = reader
        begin = 0 if name in whole else min(offsets)
        ids = [
            record.id
            for record in log.partitions.get((topic, partition), ())
            if begin <= record.offset < max(offsets)
            and record.offset not in read.get(reader, ())
            and (record.visible or name not in careful)
        ]
        if ids:
            where = f"{topic}[{partition}], which it read from offset {begin} on"
            yield finding("skipped", ids, f"never delivered to {name} from {where}")
