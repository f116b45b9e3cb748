"""The state of the bench's broker: one topic with records, groups of one member, producers.

The state is equal in every run (ids are counted, times are fixed), so a response depends only on the requests
before it.
"""

from __future__ import annotations

import functools
import uuid
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.fuzz.generators.containers import packing
from barnabas.specs import records
from barnabas.specs.records import Record

TOPIC: Final = "bench"
TOPIC_ID: Final = uuid.UUID(int=0xBA2ABA5)
PARTITIONS: Final = 2
CLUSTER_ID: Final = "barnabas-fuzz-answering"
NODE: Final = 0
EPOCH: Final = 0
"""The leader epoch of every batch, and at first of every partition."""
TIME: Final = 1_700_000_000_000
"""Milliseconds; the timestamps of all records are close to it."""
FIRST_PRODUCER: Final = 4000


class Part(NamedTuple):
    """Records in one batch, packed in a container (fuzz.generators.containers).

    magic: the newest format of the batch; a version of Fetch may need an older one.
    """

    records: tuple[Record, ...]
    container: str = "none"
    is_transactional: bool = False
    is_control: bool = False
    producer_id: int = -1
    magic: int = 2


def some_records(first: int, count: int) -> tuple[Record, ...]:
    """Return `count` records from an offset on, with and without a key, headers and nulls."""
    return tuple(
        Record(
            first + i,
            TIME + first + i,
            b"key-%d" % i if i % 2 else None,
            b"value-%d" % (first + i),
            (("trace", b"\x01\x02"), ("empty", None)) if i % 3 == 1 else (),
        )
        for i in range(count)
    )


PARTS: Final = (Part(some_records(0, 4)), Part(some_records(4, 3), "gzip"))
"""The initial batches of each partition."""


@dataclass(slots=True)
class Log:
    """A partition: its batches, the offset after the last, and its aborted transactions."""

    parts: list[Part] = field(default_factory=lambda: list(PARTS))
    end: int = 7
    aborted: tuple[tuple[int, int], ...] = ()
    """(producer id, first offset) of aborted transactions, in the order of the responses."""

    def append(self, appended: tuple[Record, ...]) -> int:
        """Append records; return the offset of the first."""
        base = self.end
        moved = tuple(
            record._replace(offset=base + i, sequence=-1) for i, record in enumerate(appended)
        )
        if moved:
            self.parts.append(Part(moved))
        self.end += len(moved)
        return base

    def read(self, offset: int, magic: int) -> bytes:
        """Return the batches from the one with this offset on."""
        return b"".join(
            batch(part, magic) for part in self.parts if part.records[-1].offset >= offset
        )


@functools.lru_cache(maxsize=256)
def batch(part: Part, magic: int) -> bytes:
    """Encode a batch for a version of Fetch; formats before magic 2 have no headers or producers."""
    magic = min(magic, part.magic)
    if magic == 2:
        return records.build(
            part.records,
            partition_leader_epoch=EPOCH,
            producer_id=part.producer_id,
            producer_epoch=-1 if part.producer_id < 0 else 0,
            base_sequence=-1 if part.producer_id < 0 else 0,
            is_transactional=part.is_transactional,
            is_control=part.is_control,
            **packing(part.container, magic),
        )
    plain = [
        record._replace(headers=(), timestamp=-1 if magic == 0 else record.timestamp)
        for record in part.records
    ]
    return records.build(plain, magic=magic, **packing(part.container, magic))


@dataclass(slots=True)
class Group:
    """A group of one member at most."""

    member: str = ""
    generation: int = 0
    protocol_type: str = "consumer"
    protocol: str = ""
    committed: dict[tuple[str, int], tuple[int, str | None]] = field(default_factory=dict)
    """(topic, partition) -> (offset, metadata)."""


@dataclass(slots=True)
class Cluster:
    """The state of a session.

    Attributes:
        host: The address of its only listener, which each node advertises.
        topic_id: The topic's id, which changes when it is created again.
        others: Further topics, which have no records: name -> number of partitions.
        leader: The node that leads all partitions.
        coordinator: The node that coordinates all groups and transactions.
        epochs: The leader epochs of all partitions, one for each Metadata; the last stays.
    """

    host: str = "127.0.0.1"
    port: int = 9092
    topic: str = TOPIC
    topic_id: uuid.UUID = TOPIC_ID
    others: dict[str, int] = field(default_factory=dict)
    logs: list[Log] = field(default_factory=lambda: [Log() for _ in range(PARTITIONS)])
    groups: dict[str, Group] = field(default_factory=dict)
    leader: int = NODE
    coordinator: int = NODE
    epochs: list[int] = field(default_factory=lambda: [EPOCH])
    members: int = 0
    producers: int = 0
    fetching: dict[int, dict[tuple[str | uuid.UUID, int], int]] = field(default_factory=dict)
    """Fetch session -> partition -> the next offset of the client (KIP-227)."""

    def log(self, topic: str | uuid.UUID, partition: int) -> Log | None:
        """Return a partition's log; None for an unknown partition."""
        exists = topic in (self.topic, self.topic_id) and 0 <= partition < len(self.logs)
        return self.logs[partition] if exists else None

    def partitions(self, name: str | None, topic_id: uuid.UUID) -> tuple[str, uuid.UUID, int]:
        """Return a topic's name, its id and its number of partitions: 0 if it is unknown."""
        if name == self.topic or topic_id == self.topic_id:
            return self.topic, self.topic_id, len(self.logs)
        for other, count in self.others.items():
            other_id = uuid.uuid5(TOPIC_ID, other)
            if name == other or topic_id == other_id:
                return other, other_id, count
        return name or "", topic_id, 0

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes with their addresses, as responses have them."""
        ids = sorted({NODE, self.leader, self.coordinator})
        return [{"node_id": node, "host": self.host, "port": self.port} for node in ids]

    @property
    def epoch(self) -> int:
        """Return the current leader epoch."""
        return self.epochs[0]

    def next_epoch(self) -> int:
        """Return the leader epoch for a Metadata response, and move on to the next."""
        epoch = self.epochs[0]
        self.epochs = self.epochs[1:] or self.epochs
        return epoch

    def group(self, name: str) -> Group:
        """Return a group, which is created at its first use."""
        return self.groups.setdefault(name, Group())

    def new_member(self) -> str:
        """Return a new member id."""
        self.members += 1
        return f"member-{self.members}"

    def new_producer(self) -> int:
        """Return a new producer id."""
        self.producers += 1
        return FIRST_PRODUCER + self.producers - 1
