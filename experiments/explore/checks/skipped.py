"""`skipped`: a group went past a record that none of its members was given."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.explore.finding import Finding, finding
from experiments.explore.history import History, OffsetCommitted
from experiments.explore.log import Log

Reader = tuple[str, str, int]
"""A group (or a consumer without one), a topic and a partition."""


def skipped(history: History, log: Log) -> Iterator[Finding]:
    """Records behind the first that a group was given and before the last one or the offset that it
    committed, which it was to see and did not. A consumer without a group is one of its own."""
    read: dict[Reader, set[int]] = {}
    committed_only: dict[Reader, bool] = {}
    for event in history.consumed:
        consumer = history.consumer(event.consumer)
        reader = consumer.group or event.consumer, event.topic, event.partition
        read.setdefault(reader, set()).add(event.offset)
        committed_only[reader] = (
            committed_only.get(reader, False) or consumer.isolation == "read_committed"
        )
    ends = {reader: max(offsets) + 1 for reader, offsets in read.items()}
    for told in history.events:
        if isinstance(told, OffsetCommitted):
            reader = told.group, told.topic, told.partition
            if reader in ends:
                ends[reader] = max(ends[reader], told.offset)
    for reader, offsets in sorted(read.items()):
        name, topic, partition = reader
        ids = [
            record.id
            for record in log.partitions.get((topic, partition), ())
            if min(offsets) < record.offset < ends[reader]
            and record.offset not in offsets
            and (record.visible or not committed_only[reader])
        ]
        if ids:
            yield finding("skipped", ids, f"passed by unread by {name} in {topic}[{partition}]")
