"""The promises to producers: checks of sent records, and of their positions in the log."""

from __future__ import annotations

from collections import Counter

from barnabas.experiments.explore.checks.promise import Violations, promise
from barnabas.experiments.explore.history import (
    Acknowledged,
    Consumed,
    Error,
    Failed,
    History,
    Sent,
)
from barnabas.experiments.explore.log import Log


@promise("acknowledged or committed, but not in {0}")
def lost(history: History, log: Log) -> Violations:
    """Find acknowledged or committed records that their topic lacks."""
    held = {(record.topic, record.id) for record in log.not_aborted}
    return (((topic,), name) for topic, name in history.promised if (topic, name) not in held)


@promise("more than once in {0}")
def duplicated(history: History, log: Log) -> Violations:
    """Find sent records that are in their topic more than once.

    Records of aborted transactions don't count: consumers of committed records never receive them.
    """
    counts = Counter((record.topic, record.id) for record in log.not_aborted)
    return (((topic,), name) for topic, name in history.sent if counts[topic, name] > 1)


@promise("reported as failed or aborted, but in {0}")
def failed_yet_written(history: History, log: Log) -> Violations:
    """Find records in the log that failed for certain, or were sent in aborted transactions only."""
    unwanted = (history.failed | history.undone) - set(history.promised)
    return dict.fromkeys(
        ((record.topic,), record.id)
        for record in log.not_aborted
        if record.visible and (record.topic, record.id) in unwanted
    )


@promise("not at the offset that the producer was given in {0}[{1}]")
def misplaced(history: History, log: Log) -> Violations:
    """Find records that were acknowledged or consumed at an offset where the log has something else."""
    violations: dict[tuple[tuple[str | int, ...], str], None] = {}
    for event in history.events:
        if not isinstance(event, Acknowledged | Consumed):
            continue
        if event.partition is None or event.offset is None:
            continue
        at = event.topic, event.partition, event.offset
        if log.covers(*at) and (at not in log.at or log.at[at].id != event.id):
            violations[at[:2], event.id] = None
    return violations


@promise("after a later record of the same producer in {0}[{1}]")
def reordered(history: History, log: Log) -> Violations:
    """Find records after one that the same producer sent later.

    Sends in aborted transactions, and those that were reported as failed, don't count: the record may have
    been sent again later.
    """
    sends: dict[tuple[str, str], tuple[str, int]] = {}
    for ordinal, event in enumerate(history.events):
        if isinstance(event, Failed):
            sends.pop((event.topic, event.id), None)
        elif isinstance(event, Sent) and not history.aborted(event):
            sends.setdefault((event.topic, event.id), (event.producer, ordinal))
    for (topic, partition), records in log.partitions.items():
        latest: dict[str, int] = {}
        for name in dict.fromkeys(record.id for record in records):
            if (topic, name) not in sends:
                continue
            producer, ordinal = sends[topic, name]
            if ordinal < latest.get(producer, -1):
                yield (topic, partition), name
            latest[producer] = max(ordinal, latest.get(producer, -1))


@promise("reported more than once by the producer of {0}, as acknowledged or failed")
def reported_twice(history: History, log: Log) -> Violations:
    """Find records for which the client reported more outcomes than it was given the record."""
    outcomes = Counter(
        (event.topic, event.id)
        for event in history.events
        if isinstance(event, Acknowledged | Failed | Error)
    )
    for (topic, name), count in outcomes.items():
        if count > len(history.sent[topic, name]):
            yield (topic,), name
