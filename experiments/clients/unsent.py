"""Records in the log that the client did not report as sent: a client's program reports each one."""

from __future__ import annotations

from barnabas.experiments.explore.checks.promise import Violations, promise
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log


@promise("in {0}, but nobody sent them")
def unsent(history: History, log: Log) -> Violations:
    """Find records that nobody sent, in topics to which something was sent."""
    topics = {topic for topic, _ in history.sent}
    for record in log.records:
        if record.topic in topics and (record.topic, record.id) not in history.sent:
            yield (record.topic,), record.id
