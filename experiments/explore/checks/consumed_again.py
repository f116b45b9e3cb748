"""`consumed again`: a group was given a record twice, the second time from before its committed offset."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Consumed, History, OffsetCommitted
from barnabas.experiments.explore.log import Log


def consumed_again(history: History, log: Log) -> Iterator[Finding]:
    """Records that a group had been given and knew to be behind it. What was read and not committed may
    come again: that is at least once. What was given once is not again, though it was committed before
    the consumer told of it."""
    committed: dict[tuple[str, str, int], int] = {}
    given: set[tuple[str, str, int, int]] = set()
    found: dict[tuple[str, str, int], list[tuple[str, int, int]]] = {}
    for event in history.events:
        if isinstance(event, OffsetCommitted):
            committed[event.group, event.topic, event.partition] = event.offset
        elif isinstance(event, Consumed):
            group = history.consumer(event.consumer).group
            if group is None:
                continue
            key = group, event.topic, event.partition
            behind = committed.get(key, 0)
            if event.offset < behind and (*key, event.offset) in given:
                found.setdefault(key, []).append((event.id, event.offset, behind))
            given.add((*key, event.offset))
    for (group, topic, partition), again in sorted(found.items()):
        ids = [name for name, _, _ in again]
        _, offset, behind = again[0]
        text = (
            f"delivered to {group} from {topic}[{partition}] again although a later offset was "
            f"committed (the first: offset {offset}, committed {behind})"
        )
        yield finding("consumed again", ids, text)
