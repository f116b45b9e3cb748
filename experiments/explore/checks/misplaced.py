"""`misplaced`: the log has something else at an offset than the client was told."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Acknowledged, Consumed, History
from barnabas.experiments.explore.log import Log


def misplaced(history: History, log: Log) -> Iterator[Finding]:
    """Records that were acknowledged or consumed at an offset where the log has not got them."""
    found: dict[tuple[str, int], dict[str, None]] = {}
    for event in history.events:
        if not isinstance(event, Acknowledged | Consumed):
            continue
        if event.partition is None or event.offset is None:
            continue
        at = event.topic, event.partition, event.offset
        if log.covers(*at) and (at not in log.at or log.at[at].id != event.id):
            found.setdefault(at[:2], {})[event.id] = None
    for (topic, partition), ids in sorted(found.items()):
        text = f"not at the offset that the producer was given in {topic}[{partition}]"
        yield finding("misplaced", list(ids), text)
