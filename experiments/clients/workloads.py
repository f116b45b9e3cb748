"""The workloads of clients, and their promises."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from barnabas.nearest import did_you_mean, nearest

LIKE: Final = 0.7
"""The similarity of a suggested name: 'admin' is not suggested for 'reading'."""

RECORDS: Final = 100
"""Records to send, or to read."""

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""Compressions, as compression.type has them."""

PARTITIONS: Final = 4

COME_AND_GO: Final = "topics come and go"
ROLLING_RESTART: Final = "rolling restart"
"""Values of `Workload.during`."""

PATIENCE: Final = 130.0
"""Timeout of a step in seconds: most clients give up after 120 themselves."""

ALL: Final = 0
"""The value of `in_flight` for all sends."""

PAUSE: Final = 0.02
"""Seconds between two sent records, so that faults happen while a client works."""


class Workload(NamedTuple):
    """A workload of the programs in all languages (in Python `peers/clients/programs/workloads.py`).

    once: whether each sent record must be in the log exactly once. written: whether its records are written
    before it begins. copies: whether it writes to a second topic. share: whether its group is a share group.
    mock: whether librdkafka's mock supports it faithfully. runs: the workload's name in the programs,
    if it differs. beside: a workload of the programs that a second process runs at the same time. pause:
    seconds, see PAUSE. per_send: records that a producer hands over at once. in_flight, topics: see
    `draws.Draw`. replicas: of each partition. compacted: whether topics are compacted before it begins.

    members: of a group; 0: it has none (`members.py`). leaves: whether the first member leaves, and another
    one follows it. settings: the members', by Kafka's names; `{slot}` in values is a member's number.
    pattern: whether members subscribe to a regular expression. during: what happens to the cluster during a
    run (`during.py`). seconds: duration of a run at least; not 0: the workload runs once, without scenarios.
    """

    name: str
    description: str
    once: bool = False
    written: bool = False
    copies: bool = False
    share: bool = False
    mock: bool = False
    runs: str = ""
    records: int = RECORDS
    pause: float = PAUSE
    per_send: int = 1
    in_flight: int = ALL
    topics: int = 1
    members: int = 0
    leaves: bool = False
    settings: Mapping[str, str | int] = MappingProxyType({})
    pattern: bool = False
    replicas: int = 1
    beside: str = ""
    compacted: bool = False
    during: str = ""
    seconds: float = 0

    def work(self, **parameters: Any) -> dict[str, Any]:
        """Return a program's parameters that no draw decides, with further ones: see `draws.parameters`.

        stay: seconds that a consumer stays in its group at least.
        """
        return {"patience": PATIENCE + self.seconds, "codecs": CODECS, **parameters}

    @property
    def program(self) -> str:
        """Return the workload's name in the programs."""
        return self.runs or self.name

    @property
    def sends(self) -> bool:
        """Return whether the workload sends records that `draws.py` can draw."""
        return not (self.written or self.seconds) and self.name != "admin"

    @property
    def transacts(self) -> bool:
        """Return whether the records are sent in transactions."""
        return self.program == "transact"


WORKLOADS: Final = (
    Workload("produce", "a producer sends records, with the library's defaults", mock=True),
    Workload("idempotent", "an idempotent producer sends records: each is written once", once=True),
    Workload(
        "compressed",
        "producers send records with each compression that the library offers",
        mock=True,
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
        in_flight=1,
    ),
    Workload(
        "long-transactions",
        "a producer sends records in transactions of some seconds over three topics",
        once=True,
        runs="transact",
        records=200,
        pause=0.06,
        in_flight=50,
        topics=3,
    ),
    Workload(
        "read-process-write",
        "records are copied in transactions with their offsets, each exactly once",
        once=True,
        written=True,
        copies=True,
        members=1,
    ),
    Workload(
        "rebalanced-copy",
        "two members copy records in transactions; one leaves, and another one follows it",
        once=True,
        written=True,
        copies=True,
        runs="read-process-write",
        members=2,
        leaves=True,
    ),
    Workload(
        "assign",
        "a consumer without a group reads partitions that it chose",
        written=True,
        mock=True,
    ),
    Workload(
        "group",
        "a consumer of a group of the classic protocol reads records, and commits what it has read",
        written=True,
        members=1,
    ),
    Workload(
        "cooperative",
        "three members with a cooperative assignor read records; they join one after the other",
        written=True,
        runs="group",
        members=3,
        settings={"partition.assignment.strategy": "cooperative-sticky"},
    ),
    Workload(
        "consumer-protocol",
        "two members of a group of the consumer rebalance protocol (KIP-848) read records",
        written=True,
        runs="group",
        members=2,
        settings={"group.protocol": "consumer"},
    ),
    Workload(
        "static",
        "two static members (KIP-345) read records, and one of them is restarted",
        written=True,
        runs="group",
        members=2,
        leaves=True,
        settings={"group.instance.id": "instance-{slot}"},
    ),
    Workload(
        "pattern",
        "two members subscribe to a regular expression; topics come and go",
        written=True,
        runs="group",
        members=2,
        topics=2,
        pattern=True,
        during=COME_AND_GO,
        settings={"metadata.max.age.ms": 1000},
    ),
    Workload(
        "rack",
        "two members fetch records from followers in their racks (KIP-392)",
        written=True,
        runs="group",
        members=2,
        replicas=3,
        settings={"client.rack": "rack-{slot}"},
    ),
    Workload(
        "compacted",
        "a consumer of a group reads a compacted topic with tombstones",
        written=True,
        runs="group",
        members=1,
        compacted=True,
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
    Workload(
        "admin-beside-traffic",
        "an administrator makes, changes and deletes topics while a producer sends records",
        runs="produce",
        records=200,
        beside="admin",
    ),
    Workload(
        "rolling-restart",
        "an idempotent producer sends and a group reads while each broker is restarted",
        once=True,
        runs="idempotent",
        records=1000,
        pause=0.04,
        replicas=3,
        beside="group",
        members=2,
        during=ROLLING_RESTART,
        seconds=40,
    ),
    Workload(
        "ten-minutes",
        "a producer sends and a group reads for ten minutes: memory and connections must not grow",
        runs="produce",
        records=12_000,
        pause=0.05,
        beside="group",
        members=1,
        seconds=600,
    ),
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
