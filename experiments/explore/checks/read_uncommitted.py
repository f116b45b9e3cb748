"""`read uncommitted`: a consumer that reads committed records was given another one."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.experiments.explore.finding import Finding, finding
from barnabas.experiments.explore.history import Consumed, History
from barnabas.experiments.explore.log import Log


def read_uncommitted(history: History, log: Log) -> Iterator[Finding]:
    """Records that a read_committed consumer got though their transaction was aborted, as the log or
    the client says, or is still open."""
    found: dict[str, list[str]] = {}
    for event in history.consumed:
        isolation = history.consumer(event.consumer).isolation
        if isolation == "read_committed" and _uncommitted(event, history, log):
            found.setdefault(event.consumer, []).append(event.id)
    for consumer, ids in sorted(found.items()):
        yield finding("read uncommitted", ids, f"never committed, but delivered to {consumer}")


def _uncommitted(event: Consumed, history: History, log: Log) -> bool:
    key = event.topic, event.id
    if key in history.undone:
        return True
    record = log.at.get((event.topic, event.partition, event.offset))
    if record is None or record.id != event.id:
        return False
    # behind an open transaction stand records of none, too: they are committed
    sends = history.sent.get(key, ())
    transactional = bool(sends) and all(send.transaction is not None for send in sends)
    return record.visible is False or (record.visible is None and transactional)
