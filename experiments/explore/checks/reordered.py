"""`reordered`: a partition has one producer's records in another order than they were sent."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History, Sent
from barnabas.experiments.explore.log import Log


def reordered(history: History, log: Log) -> Iterator[Finding]:
    """Records that first stand behind one that the same producer sent later.

    What was sent in a transaction that was aborted is no sending: it may have been sent again later.
    """
    sends = _sends(history)
    for (topic, partition), records in sorted(log.partitions.items()):
        latest: dict[str, int] = {}
        met: set[str] = set()
        behind = []
        for record in records:
            if record.id in met or (topic, record.id) not in sends:
                continue
            met.add(record.id)
            producer, ordinal = sends[topic, record.id]
            if ordinal < latest.get(producer, -1):
                behind.append(record.id)
            latest[producer] = max(ordinal, latest.get(producer, -1))
        if behind:
            text = f"after a later record of the same producer in {topic}[{partition}]"
            yield finding("reordered", behind, text)


def _sends(history: History) -> dict[tuple[str, str], tuple[str, int]]:
    """(topic, id) -> producer and ordinal of its first sending that was not undone."""
    found: dict[tuple[str, str], tuple[str, int]] = {}
    for ordinal, event in enumerate(history.events):
        if isinstance(event, Sent) and not history.aborted(event):
            found.setdefault((event.topic, event.id), (event.producer, ordinal))
    return found
