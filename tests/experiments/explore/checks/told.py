"""Short words for events and records, for histories written by hand."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.experiments.explore.checks.promise import Check
from barnabas.experiments.explore.history import (
    Accepted,
    Acknowledged,
    Assigned,
    Consumed,
    Consumer,
    Error,
    Event,
    Failed,
    History,
    OffsetCommitted,
    Sent,
    Transaction,
)
from barnabas.experiments.explore.log import Log, LoggedRecord

T = "orders"


def sent(name: str, transaction: str | None = None, producer: str = "") -> Sent:
    return Sent(id=name, topic=T, transaction=transaction, producer=producer)


def acknowledged(name: str, offset: int | None = None, partition: int = 0) -> Acknowledged:
    return Acknowledged(id=name, topic=T, partition=partition, offset=offset)


def failed(name: str) -> Failed:
    return Failed(id=name, topic=T)


def error(name: str) -> Error:
    return Error(id=name, topic=T)


def committed(name: str) -> Transaction:
    return Transaction(transaction=name, outcome="committed")


def aborted(name: str) -> Transaction:
    return Transaction(transaction=name, outcome="aborted")


def consumed(name: str, offset: int, consumer: str = "c", partition: int = 0) -> Consumed:
    return Consumed(consumer=consumer, id=name, topic=T, partition=partition, offset=offset)


def accepted(offset: int, consumer: str = "s", partition: int = 0) -> Accepted:
    return Accepted(consumer=consumer, topic=T, partition=partition, offset=offset)


def assigned(consumer: str = "c", partition: int = 0) -> Assigned:
    return Assigned(consumer=consumer, topic=T, partition=partition)


def offset_committed(offset: int, group: str = "g", partition: int = 0) -> OffsetCommitted:
    return OffsetCommitted(group=group, topic=T, partition=partition, offset=offset)


READER = Consumer(consumer="c", group="g", isolation="read_uncommitted")
FROM_THE_START = Consumer(consumer="c", group="g", reset="earliest")
CAREFUL = Consumer(consumer="c", group="g", isolation="read_committed")
OTHER = Consumer(consumer="d", group="g", isolation="read_uncommitted")
SHARING = Consumer(consumer="s", group="h", share=True)
SHARING_TOO = Consumer(consumer="u", group="h", share=True)


def log(*names: str, undone: Sequence[int] = (), undecided: Sequence[int] = ()) -> Log:
    """A log of one partition: ids from offset 0 on; which offsets are not (or not yet) visible."""
    return Log(
        LoggedRecord(
            T, 0, offset, name, False if offset in undone else None if offset in undecided else True
        )
        for offset, name in enumerate(names)
    )


def found(check: Check, held: Log, *events: Event) -> list[tuple[str, tuple[str, ...]]]:
    """The kind and the ids of each finding."""
    return [(one.kind, one.ids) for one in check(History(events), held)]
