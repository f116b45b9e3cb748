"""`consumed after acceptance`: a share group was given a record that a member had accepted."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Accepted, Consumed, History
from barnabas.experiments.explore.log import Log


def consumed_after_acceptance(history: History, log: Log) -> Iterator[Finding]:
    """Records that a share group (KIP-932) was given although it knew that an acknowledgement was taken."""
    accepted: set[tuple[str, str, int, int]] = set()
    found: dict[tuple[str, str, int], list[str]] = {}
    for event in history.events:
        if isinstance(event, Accepted | Consumed):
            group = history.consumer(event.consumer).group or event.consumer
            key = group, event.topic, event.partition
            if isinstance(event, Accepted):
                accepted.add((*key, event.offset))
            elif (*key, event.offset) in accepted:
                found.setdefault(key, []).append(event.id)
    for (group, topic, partition), ids in sorted(found.items()):
        text = f"delivered to {group} from {topic}[{partition}] although it was accepted"
        yield finding("consumed after acceptance", ids, text)
