"""`phantom`: a consumer was given a record that nobody sent."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log


def phantom(history: History, log: Log) -> Iterator[Finding]:
    """Records that were consumed and not sent, in topics to which this run sent something."""
    written = {topic for topic, _ in history.sent}
    found: dict[str, list[str]] = {}
    for event in history.consumed:
        of_this_run = log.covers(event.topic, event.partition, event.offset)
        if event.topic in written and of_this_run and (event.topic, event.id) not in history.sent:
            found.setdefault(event.topic, []).append(event.id)
    for topic, ids in sorted(found.items()):
        yield finding("phantom", ids, f"consumed from {topic}, but never sent")
