"""The part of a workload that a client left out without an exception, by its history and the log."""

from __future__ import annotations

from collections.abc import Collection

from barnabas.experiments.clients.workloads import Workload
from barnabas.experiments.explore.history import Acknowledged, Error, Failed, History, Sent
from barnabas.experiments.explore.log import Log


def unfinished(workload: Workload, topic: str, reported: History, log: Log) -> str:
    """Describe the part of a workload that the client left out; empty: none. topic: the client's."""
    if workload.copies:
        copied = {record.id for record in log.not_aborted if record.topic == f"{topic}-out"}
        return _short(workload, copied, "were not copied")
    if workload.written:
        read = {(record.topic, record.id) for record in reported.consumed}
        return _short(workload, read.intersection(reported.sent), "were not read")
    if workload.name == "admin":
        return ""
    # of compressions a library may offer fewer
    short = (
        "" if workload.name == "compressed" else _short(workload, reported.sent, "were not sent")
    )
    if short:
        return short
    settled = {
        (event.topic, event.id)
        for event in reported.events
        if isinstance(event, Acknowledged | Failed | Error)
    }
    unsettled = [
        key
        for key, sends in reported.sent.items()
        if key not in settled and not any(_ended(send, reported) for send in sends)
    ]
    if unsettled:
        return (
            f"{len(unsettled)} of {len(reported.sent)} records are neither acknowledged nor failed"
        )
    if workload.transacts and "committed" not in reported.outcomes.values():
        return "no transaction was committed"
    return ""


def unrequested(workload: Workload, requested: Collection[str]) -> str:
    """Describe the part of a workload for which the client sent no request; empty: none.

    requested: names of the APIs of its requests.
    """
    needed = ""
    if "admin" in (workload.program, workload.beside):
        needed = "CreateTopics"
    elif workload.copies:
        needed = "TxnOffsetCommit"
    elif workload.program in ("group", "stored-offsets"):
        needed = "OffsetCommit"
    return f"it sent no {needed}" if needed and needed not in requested else ""


def failures(reported: History) -> int:
    """Return the number of records that the client reported as failed, and not as acknowledged."""
    keys: dict[bool, set[tuple[str, str]]] = {False: set(), True: set()}
    for event in reported.events:
        if isinstance(event, Acknowledged | Failed | Error):
            keys[isinstance(event, Acknowledged)].add((event.topic, event.id))
    return len(keys[False] - keys[True])


def _ended(send: Sent, reported: History) -> bool:
    """Return whether a record's transaction has an outcome."""
    return send.transaction in reported.outcomes


def _short(workload: Workload, present: Collection[object], verb: str) -> str:
    missing = workload.records - len(present)
    return f"{missing} of {workload.records} records {verb}" if missing > 0 else ""
