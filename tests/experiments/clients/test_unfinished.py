"""What a client left undone, of histories made up for it."""

from __future__ import annotations

from barnabas.experiments.clients.unfinished import failures, unfinished, unrequested
from barnabas.experiments.clients.workloads import find
from barnabas.experiments.explore.history import (
    Acknowledged,
    Consumed,
    Error,
    Event,
    Failed,
    History,
    Sent,
    Transaction,
)
from barnabas.experiments.explore.log import Log, LoggedRecord

NAMES = [f"t-{number}" for number in range(100)]
SENT = [Sent(id=name, topic="t", transaction="1") for name in NAMES]


def test_records_that_failed_are_counted_once_and_not_if_they_were_acknowledged() -> None:
    events: list[Event] = [*SENT[:3], Failed(id="t-0", topic="t"), Error(id="t-0", topic="t")]
    events += [Error(id="t-1", topic="t"), Acknowledged(id="t-1", topic="t")]
    assert failures(History(events)) == 1


def left(workload: str, events: list[Event], log: Log | None = None) -> str:
    return unfinished(find(workload), "t", History(events), log or Log())


def test_each_record_is_sent_and_has_an_outcome() -> None:
    said: list[Event] = [Acknowledged(id=name, topic="t") for name in NAMES[:50]]
    said += [Failed(id=name, topic="t") for name in NAMES[50:]]
    assert left("produce", [*SENT, *said]) == ""
    assert (
        left("produce", [*SENT, *said[1:]])
        == "1 of 100 records are neither acknowledged nor failed"
    )
    assert left("produce", []) == "100 of 100 records were not sent"
    committed = Transaction(transaction="2", outcome="committed")
    aborted: list[Event] = [*SENT, Transaction(transaction="1", outcome="aborted")]
    assert left("transact", [*aborted, committed]) == ""
    assert left("transact", aborted) == "no transaction was committed"
    assert left("transact", list(SENT)).startswith("100 of 100 records are neither")
    assert left("compressed", []) == ""
    assert left("admin", []) == ""


def test_a_part_without_a_request_was_left_out() -> None:
    assert unrequested(find("group"), {"Fetch"}) == "it sent no OffsetCommit"
    assert unrequested(find("group"), {"Fetch", "OffsetCommit"}) == ""
    assert unrequested(find("rebalanced-copy"), {"OffsetCommit"}) == "it sent no TxnOffsetCommit"
    assert unrequested(find("admin-beside-traffic"), {"Produce"}) == "it sent no CreateTopics"
    assert unrequested(find("produce"), set()) == unrequested(find("share-group"), set()) == ""


def test_what_was_written_is_read_and_copied() -> None:
    read = [
        Consumed(consumer="c", id=name, topic="t", partition=0, offset=at)
        for at, name in enumerate(NAMES)
    ]
    written = [Sent(id=name, topic="t") for name in NAMES]
    assert left("group", [*written, *read]) == ""
    assert left("assign", [*written, *read[:98], *read[:2]]) == "2 of 100 records were not read"
    earlier = [event.model_copy(update={"id": f"{event.id}-earlier"}) for event in read[98:]]
    assert left("group", [*written, *read[:98], *earlier]) == "2 of 100 records were not read"
    copied = [LoggedRecord("t-out", 0, at, name) for at, name in enumerate(NAMES)]
    assert left("read-process-write", [*read], Log(copied)) == ""
    aborted = copied[0]._replace(visible=False)
    short = left("read-process-write", [*read], Log([aborted, *copied[1:]]))
    assert short == "1 of 100 records were not copied"
