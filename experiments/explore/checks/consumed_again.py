"""`consumed again`: a group was given a record from before the offset that it had committed."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.explore.finding import Finding, finding
from experiments.explore.history import Consumed, History, OffsetCommitted
from experiments.explore.log import Log


def consumed_again(history: History, log: Log) -> Iterator[Finding]:
    """Records that a group had behind it, and knew so. What was read and not committed may come
    again: that is at least once."""
    committed: dict[tuple[str, str, int], int] = {}
    found: dict[tuple[str, str, int], list[str]] = {}
    for event in history.events:
        if isinstance(event, OffsetCommitted):
            committed[event.group, event.topic, event.partition] = event.offset
        elif isinstance(event, Consumed):
            group = history.consumer(event.consumer).group
            if group is None:
                continue
            key = group, event.topic, event.partition
            if event.offset < committed.get(key, 0):
                found.setdefault(key, []).append(event.id)
    for (group, topic, partition), ids in sorted(found.items()):
        text = f"read again by {group} in {topic}[{partition}], from before its committed offset"
        yield finding("consumed again", ids, text)
