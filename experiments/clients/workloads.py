"""The workloads of clients, and their promises."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from barnabas.nearest import did_you_mean, nearest

LIKE: Final = 0.7
"""The similarity of a suggested name: 'admin' is not suggested for 'reading'."""

RECORDS: Final = 100
"""Records to send, or to read."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Compressions, as compression.type has them."""

PARTITIONS: Final = 4

PATIENCE: Final = 130.0
"""Timeout of a step in seconds: most clients give up after 120 themselves."""

PAUSE: Final = 0.02
"""Seconds between two sent records, so that faults happen while a client works."""


class Workload(NamedTuple):
    """A workload of the programs in all languages (in Python `peers/clients/programs/workloads.py`).

    once: whether each sent record must be in the log exactly once. written: whether its records are written
    before it begins. copies: whether it writes to a second topic. share: whether its group is a share group.
    embedded: whether the embedded cluster supports it faithfully. runs: the workload's name in the programs,
    if it differs. pause: seconds, see PAUSE. per_send: records that a producer hands over at once.
    """

    name: str
    description: str
    once: bool = False
    written: bool = False
    copies: bool = False
    share: bool = False
    embedded: bool = False
    runs: str = ""
    records: int = RECORDS
    pause: float = PAUSE
    per_send: int = 1

    def work(self, **parameters: Any) -> dict[str, Any]:
        """Return a program's parameters that no draw decides, with further ones: see `draws.parameters`.

        stay: seconds that a consumer stays in its group at least.
        """
        return {"patience": PATIENCE, "codecs": CODECS, **parameters}

    @property
    def drawn(self) -> bool:
        """Return whether the workload sends records that `draws.py` can draw."""
        return not self.written and self.name != "admin"


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
        per_send=500,
        pause=0,
    ),
    Workload(
        "transact",
        "a producer sends records in transactions, and aborts each third",
        once=True,
        pause=0,
        per_send=5,
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
"""All workloads."""


def find(name: str) -> Workload:
    """Return the workload of that name.

    >>> find("produce").once
    False

    Raises:
        LookupError: There is none; the message lists the names.
    """
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    known = [workload.name for workload in WORKLOADS]
    hint = did_you_mean(name, known) if nearest(name, known, LIKE) else ""
    raise LookupError(f"unknown workload {name!r}{hint}; choose from {', '.join(known)}")
