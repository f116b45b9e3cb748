"""What a client is made to do, and what it promises when it does."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from barnabas.nearest import did_you_mean, nearest

LIKE: Final = 0.7
"""What is as near as that may be meant: 'admin' is not, by 'reading'."""

RECORDS: Final = 100
"""That are sent, or read."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Compressions, as compression.type has them."""

PARTITIONS: Final = 4

PATIENCE: Final = 130.0
"""Seconds after which a step of a workload gives up: most clients do so themselves after 120 at most."""

PAUSE: Final = 0.02
"""Seconds between two records that are sent: faults meet a client at work."""


class Workload(NamedTuple):
    """What each library's program can be told to do: `runs`, or else what has this name (in Python
    `peers/clients/programs/workloads.py`).

    once: a record that is sent is in the log once. written: the records that it reads are there before it
    begins. copies: it writes to a second topic. share: its group is a share group. embedded: whether the
    embedded cluster does faithfully what it needs. pause: in seconds, as PAUSE.
    """

    name: str
    what: str
    once: bool = False
    written: bool = False
    copies: bool = False
    share: bool = False
    embedded: bool = False
    runs: str = ""
    records: int = RECORDS
    pause: float = PAUSE

    def work(self, **own: Any) -> dict[str, Any]:
        """What a program is told of it (`peers/clients/programs/work.py`), but for these. stay: in seconds,
        for which a consumer stays in its group at least."""
        return {
            "records": self.records,
            "partitions": PARTITIONS,
            "patience": PATIENCE,
            "pause": self.pause,
            "codecs": CODECS,
            **own,
        }


WORKLOADS: Final = (
    Workload("produce", "a producer sends records, with the library's defaults", embedded=True),
    Workload("idempotent", "the same, idempotent: each record is written once", once=True),
    Workload(
        "compressed",
        "producers send records with each compression that the library offers",
        embedded=True,
        pause=0,
    ),
    Workload(
        "burst",
        "an idempotent producer is given 20,000 records at once: batches are large",
        once=True,
        runs="idempotent",
        records=20_000,
        pause=0,
    ),
    Workload(
        "transact",
        "a producer sends records in transactions, and aborts each third",
        once=True,
    ),
    Workload(
        "read-process-write",
        "records are copied in transactions with their offsets, each exactly once",
        once=True,
        written=True,
        copies=True,
    ),
    Workload(
        "assign",
        "a consumer without a group reads partitions that it chose",
        written=True,
        embedded=True,
    ),
    Workload(
        "group",
        "a consumer of a group of the classic protocol reads records, and commits what it has read",
        written=True,
    ),
    Workload(
        "cooperative",
        "the same by two members with a cooperative assignor, of which one comes later",
        written=True,
    ),
    Workload(
        "consumer-protocol",
        "the same in a group of the consumer rebalance protocol (KIP-848)",
        written=True,
    ),
    Workload(
        "share-group",
        "a member of a share group reads records, and acknowledges each batch (KIP-932)",
        written=True,
        share=True,
    ),
    Workload(
        "stored-offsets",
        "two members of a group store offsets themselves, one batch late, and the library commits them",
        written=True,
    ),
    Workload("admin", "an administrator makes, changes and deletes topics"),
)
"""All of them."""


def find(name: str) -> Workload:
    """The workload of that name. Raises LookupError, in words.

    >>> find("produce").once
    False
    """
    for one in WORKLOADS:
        if one.name == name:
            return one
    known = [one.name for one in WORKLOADS]
    hint = did_you_mean(name, known) if nearest(name, known, LIKE) else ""
    raise LookupError(f"unknown workload {name!r}{hint}; choose from {', '.join(known)}")
