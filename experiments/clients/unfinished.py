"""What a client left undone of a workload, though it raised nothing: of its history and the log."""

from __future__ import annotations

from collections.abc import Collection

from barnabas.experiments.clients.workloads import Workload
from barnabas.experiments.explore.history import Acknowledged, Failed, History, Sent
from barnabas.experiments.explore.log import Log


def unfinished(workload: Workload, topic: str, told: History, log: Log) -> str:
    """It, in words; empty: nothing. topic: the one that the client was told."""
    if workload.copies:
        copied = {one.id for one in log.kept if one.topic == f"{topic}-out"}
        return _short(workload, copied, "were not copied")
    if workload.written:
        return _short(workload, {one.id for one in told.consumed}, "were not read")
    if workload.name == "admin":
        return ""
    # of compressions a library may offer fewer
    short = "" if workload.name == "compressed" else _short(workload, told.sent, "were not sent")
    if short:
        return short
    said = {(e.topic, e.id) for e in told.events if isinstance(e, Acknowledged | Failed)}
    unsaid = [
        key
        for key, sends in told.sent.items()
        if key not in said and not any(_ended(send, told) for send in sends)
    ]
    if unsaid:
        return f"{len(unsaid)} of {len(told.sent)} records are neither acknowledged nor failed"
    return ""


def _ended(send: Sent, told: History) -> bool:
    """Whether its transaction has an outcome."""
    return send.transaction in told.outcomes


def _short(workload: Workload, found: Collection[object], what: str) -> str:
    missing = workload.records - len(found)
    return f"{missing} of {workload.records} records {what}" if missing > 0 else ""
