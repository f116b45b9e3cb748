"""`duplicated`: the log has a record more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log


def duplicated(history: History, log: Log) -> Iterator[Finding]:
    """Records that were sent and stand in their topic more than once. Those of aborted transactions
    don't count: nobody who reads committed records is given them."""
    counts = Counter((record.topic, record.id) for record in log.kept)
    again: dict[str, list[str]] = {}
    for topic, name in history.sent:
        if counts[topic, name] > 1:
            again.setdefault(topic, []).append(name)
    for topic, ids in sorted(again.items()):
        yield finding("duplicated", ids, f"more than once in {topic}")
