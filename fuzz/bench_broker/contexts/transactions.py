"""Logs with aborted transactions, as a read_committed consumer reads them (KIP-98).

A consumer skips the records of a producer from the first offset that the list of aborted transactions names
to that producer's ABORT marker. Brokers list transactions in the order of their markers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.fuzz.bench_broker.cluster import PARTITIONS, TIME, Cluster, Log, Part, some_records
from barnabas.fuzz.bench_broker.contexts.context import Context
from barnabas.specs import keys
from barnabas.specs.records import Record
from barnabas.specs.records.control import control_key, marker_value

WORKLOAD: Final = "read-committed"
_SINCE: Final = 4
"""The first version of Fetch with the list."""

_A, _B, _C, _UNKNOWN = 4000, 4001, 4002, 4999


def _sent(producer: int, first: int, count: int, container: str = "none") -> Part:
    records = some_records(first, count)
    return Part(records, container, is_transactional=True, producer_id=producer)


def _marker(producer: int, offset: int, kind: str) -> Part:
    marker = Record(offset, TIME + offset, control_key(kind), marker_value(0))
    return Part((marker,), is_transactional=True, is_control=True, producer_id=producer)


def _markers(producer: int, offset: int, *kinds: str) -> Part:
    """Return a control batch with several records, where brokers write one."""
    parts = [_marker(producer, offset + number, kind) for number, kind in enumerate(kinds)]
    return parts[0]._replace(records=tuple(record for part in parts for record in part.records))


class TransactionLog(NamedTuple):
    """A partition with transactions.

    Attributes:
        name: The context's name.
        parts: The batches.
        aborted: (producer id, first offset) of the aborted transactions, as the broker lists them.
        visible: The offsets that a read_committed consumer delivers.
        real: Whether brokers send such lists: in the order of the markers, of producers with records.
    """

    name: str
    parts: tuple[Part, ...]
    aborted: tuple[tuple[int, int], ...]
    visible: tuple[int, ...]
    real: bool = True


_ONE_AFTER_ANOTHER: Final = (
    *(_sent(_A, 0, 3), _marker(_A, 3, "ABORT")),
    *(_sent(_B, 4, 2), _marker(_B, 6, "ABORT")),
    *(_sent(_C, 7, 2, "gzip"), _marker(_C, 9, "COMMIT")),
)
_NESTED: Final = (
    *(_sent(_A, 0, 2), _sent(_B, 2, 2), _marker(_B, 4, "ABORT")),
    *(_sent(_A, 5, 2), _marker(_A, 7, "ABORT"), Part(some_records(8, 2))),
)
_TWICE: Final = (
    *(_sent(_A, 0, 2), _marker(_A, 2, "ABORT"), _sent(_A, 3, 2), _marker(_A, 5, "COMMIT")),
    *(_sent(_A, 6, 1), _marker(_A, 7, "ABORT")),
)
_OF_UNKNOWN: Final = (
    *(_marker(_UNKNOWN, 0, "ABORT"), Part(some_records(1, 2)), _marker(_UNKNOWN, 3, "COMMIT")),
    *(_sent(_A, 4, 2), _marker(_A, 6, "COMMIT"), _marker(_B, 7, "ABORT")),
)
# the first transaction began before the offset from which the consumer reads, so it is not listed
_RESUMED: Final = (
    *(_marker(_A, 0, "ABORT"), _sent(_B, 1, 2), _marker(_B, 3, "ABORT"), Part(some_records(4, 2))),
)
_SEVERAL_MARKERS: Final = (
    *(_sent(_A, 0, 2), _markers(_A, 2, "ABORT", "ABORT"), _sent(_B, 4, 2)),
    *(_markers(_B, 6, "KRAFT_VERSION", "ABORT"), Part(some_records(8, 2))),
)

LOGS: Final = (
    TransactionLog("aborted", _ONE_AFTER_ANOTHER, ((_A, 0), (_B, 4)), (7, 8)),
    TransactionLog(
        "aborted-out-of-order", _ONE_AFTER_ANOTHER, ((_B, 4), (_A, 0)), (7, 8), real=False
    ),
    TransactionLog("aborted-nested", _NESTED, ((_B, 2), (_A, 0)), (8, 9)),
    TransactionLog("aborted-twice", _TWICE, ((_A, 0), (_A, 6)), (3, 4)),
    # not Apache Kafka, but Redpanda lists the latest transactions first
    TransactionLog("aborted-latest-first", _TWICE, ((_A, 6), (_A, 0)), (3, 4)),
    TransactionLog("aborted-resumed", _RESUMED, ((_B, 1),), (4, 5)),
    TransactionLog("aborted-markers", _SEVERAL_MARKERS, ((_A, 0), (_B, 4)), (8, 9), real=False),
    TransactionLog(
        "aborted-unknown", _OF_UNKNOWN, ((_UNKNOWN, 0), (_B, 5)), (1, 2, 4, 5), real=False
    ),
)


def _arranged(log: TransactionLog) -> Callable[[Cluster], None]:
    def arrange(cluster: Cluster) -> None:
        end = log.parts[-1].records[-1].offset + 1
        cluster.logs = [Log(list(log.parts), end, log.aborted) for _ in range(PARTITIONS)]

    return arrange


CONTEXTS: Final = tuple(
    Context(
        log.name,
        {keys.FETCH: _SINCE},
        WORKLOAD,
        arrange=_arranged(log),
        single=True,
        visible=log.visible if log.real else None,
    )
    for log in LOGS
)
