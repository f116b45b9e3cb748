"""`consumed out of order`: a consumer was given a record again, or one from before another."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Assigned, Consumed, History
from barnabas.experiments.explore.log import Log


def consumed_out_of_order(history: History, log: Log) -> Iterator[Finding]:
    """Records whose offset is not behind the one that the consumer got before from that partition,
    though it was not assigned anew meanwhile. A share group promises no order."""
    latest: dict[tuple[str, str, int], int] = {}
    found: dict[tuple[str, str, int], list[str]] = {}
    for event in history.events:
        if isinstance(event, Assigned):
            latest.pop((event.consumer, event.topic, event.partition), None)
        elif isinstance(event, Consumed) and not history.consumer(event.consumer).share:
            key = event.consumer, event.topic, event.partition
            if event.offset <= latest.get(key, -1):
                found.setdefault(key, []).append(event.id)
            latest[key] = event.offset
    for (consumer, topic, partition), ids in sorted(found.items()):
        text = f"delivered to {consumer} after later records of {topic}[{partition}]"
        yield finding("consumed out of order", ids, text)
