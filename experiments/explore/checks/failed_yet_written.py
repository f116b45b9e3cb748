"""`failed yet written`: the client said that it is not written, and whoever reads is given it."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log


def failed_yet_written(history: History, log: Log) -> Iterator[Finding]:
    """Records in the log that failed for certain, or were sent in aborted transactions only."""
    unwanted = (history.failed | history.undone) - set(history.promised)
    found: dict[str, dict[str, None]] = {}
    for record in log.kept:
        if record.visible and (record.topic, record.id) in unwanted:
            found.setdefault(record.topic, {})[record.id] = None
    for topic, ids in sorted(found.items()):
        yield finding(
            "failed yet written", list(ids), f"reported as failed or aborted, but in {topic}"
        )
