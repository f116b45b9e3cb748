"""`lost`: the client said that it is written, and the log does not have it."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log


def lost(history: History, log: Log) -> Iterator[Finding]:
    """Records that were acknowledged, or whose transaction is committed, and are not in their topic."""
    held = {(record.topic, record.id) for record in log.kept}
    missing: dict[str, list[str]] = {}
    for topic, name in history.promised:
        if (topic, name) not in held:
            missing.setdefault(topic, []).append(name)
    for topic, ids in sorted(missing.items()):
        yield finding("lost", ids, f"acknowledged or committed, but not in {topic}")
