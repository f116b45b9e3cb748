"""Parameters and reports of a workload in Python.

It runs beside `lines.py`, in a venv that has the client and nothing of this project.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class GaveUpError(Exception):
    """A workload's timeout passed without a result from the client."""


class NotOfferedError(Exception):
    """The library does not support the workload."""

    def __init__(self) -> None:
        super().__init__("this library does not offer it")


class PlannedRecord(NamedTuple):
    """A record to send. id: its value up to the padding, or its key if it has no value. timestamp: in ms."""

    id: str
    topic: str
    key: bytes | None
    value: bytes | None
    partition: int | None = None
    headers: list[tuple[str, bytes]] | None = None
    timestamp: int | None = None

    @property
    def optional(self) -> dict[str, Any]:
        """Return the partition, headers and timestamp, if they are given."""
        given = {
            "partition": self.partition,
            "headers": self.headers,
            "timestamp": self.timestamp,
        }
        return {name: value for name, value in given.items() if value is not None}


Sends = list[list[PlannedRecord]]
"""Lists of records, each handed to the client at once."""


class Member(NamedTuple):
    """A member of a group, and its traffic (`experiments/clients/members.py`)."""

    name: str
    after: int = 0
    """Joins when the members have received this many records."""
    follows: str | None = None
    """Joins when the member of that name has left."""
    leaves: int | None = None
    """Leaves when it has received this many records itself."""
    delay: float = 0
    """Seconds of work on the records of each poll."""
    stall: float = 0
    """Seconds of work on its first records, in addition."""
    pauses: bool = False
    """Pauses its partitions after each third poll with records, for two polls."""
    rewinds: bool = False
    """Seeks to the committed offsets once, after its third poll with records."""
    partial: bool = False
    """Commits only the offset of one partition after each poll."""
    pattern: str | None = None
    """Subscribes to a regular expression instead of topics."""
    settings: Mapping[str, Any] = MappingProxyType({})
    """By Kafka's names."""


class Work:
    """A workload: its parameters, and the events that it reports."""

    at_once = 5
    """Records that are read before their offsets are committed."""
    attempts = 5
    """At a transaction."""
    admin_topics = 5
    """Topics that an administrator makes, changes and deletes."""

    def __init__(self, task: dict[str, Any], out: Callable[[dict[str, Any]], None]) -> None:
        work = task["work"]
        self.bootstrap: str = task["bootstrap"]
        self.topic: str = task["topic"]
        self.topics: list[str] = work["topics"]
        """All topics; the first is `topic`."""
        self.members = [Member(**member) for member in work.get("members", [])]
        self.ending: str = work["ending"]
        """How a producer ends its last round: await, flush or close."""
        self.partitions: int = work["partitions"]
        """Partitions of each topic, and of the output topic."""
        self.records: int = work["records"]
        self.patience: float = work["patience"]
        """The timeout of a step in seconds."""
        self.pause: float = work["pause"]
        """Seconds between two sends."""
        self.settings: dict[str, Any] = work["settings"]
        """Settings of a producer by Kafka's names, which apply if the library has them."""
        self._rounds: list[list[list[dict[str, Any]]]] = work["rounds"]
        self.codecs: list[str] = work.get("codecs", [])
        """Compressions that the brokers know, as compression.type has them."""
        self.broker = tuple(int(part) for part in work.get("broker", "").split(".") if part)
        """The brokers' version, for clients that must be configured with it; else empty."""
        self._leaves = time.monotonic() + work["stay"]
        self.group = self.topic + "-group"
        self.output = self.topic + "-out"
        """The topic to which read-process-write copies."""
        self.poll_error: Exception | None = None
        """The error of the last poll that failed, if no record came later; clients continue after it."""
        self._out = out

    def report(self, event: str, **facts: Any) -> None:
        """Report an event."""
        self._out(
            {"event": event, **{name: each for name, each in facts.items() if each is not None}}
        )

    @property
    def ids(self) -> list[str]:
        """Return the values of the records to read."""
        return [f"{self.topic}-{number}" for number in range(self.records)]

    @property
    def rounds(self) -> list[Sends]:
        """Return the sends that are awaited together, or are a transaction, in order."""
        return [
            [[self._planned(record) for record in send] for send in sends] for sends in self._rounds
        ]

    def _planned(self, record: dict[str, Any]) -> PlannedRecord:
        name, size, key = record["id"], record.get("size"), record.get("key")
        value = name if size is None else f"{name}|".ljust(size, "x")[:size]
        headers = record.get("headers")
        return PlannedRecord(
            name,
            record.get("topic", self.topic),
            None if key is None else key.encode(),
            None if record.get("null") else value.encode(),
            record.get("partition"),
            None if headers is None else [(name, value.encode()) for name, value in headers],
            record.get("timestamp"),
        )

    @property
    def topic_partitions(self) -> list[tuple[str, int]]:
        """Return all partitions of all topics."""
        return [(topic, number) for topic in self.topics for number in range(self.partitions)]

    @staticmethod
    def aborts(number: int) -> bool:
        """Return whether a transaction is aborted on purpose: each third one."""
        return number % 3 == 2

    @property
    def stays(self) -> bool:
        """Return whether a consumer stays in its group after it has read all records."""
        stays: bool = time.monotonic() < self._leaves
        return stays

    @property
    def until(self) -> float:
        """Return the deadline (time.monotonic) of a step that begins now."""
        return time.monotonic() + self.patience

    def sent(
        self,
        record: str,
        topic: str,
        transaction: str | None = None,
        producer: str | None = None,
    ) -> None:
        """Report that a record was handed to the client. producer: within whose records order is promised."""
        optional = {"transaction": transaction, "producer": producer}
        self.report("sent", id=record, topic=topic, **optional)

    def acknowledged(self, record: str, topic: str, partition: int, offset: int | None) -> None:
        """Report an acknowledged record; a negative offset is none."""
        at = None if offset is None or offset < 0 else offset
        self.report("acknowledged", id=record, topic=topic, partition=partition, offset=at)

    def record_error(self, record: str, topic: str, problem: object) -> None:
        """Report an error of a record; whether it is written is unknown."""
        self.report("error", id=record, topic=topic, message=str(problem)[:200])

    def ended(self, transaction: str, outcome: str) -> None:
        """Report the outcome of a transaction."""
        self.report("transaction", transaction=transaction, outcome=outcome)

    def committed(self, topic: str, partition: int, offset: int) -> None:
        """Report an offset that the group has committed."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self.report("offset_committed", group=self.group, **at)

    def wait_until_visible(self, change: str, visible: Callable[[], bool]) -> None:
        """Wait until a change is visible. Raises GaveUpError."""
        until = self.until
        while not visible():
            if time.monotonic() > until:
                raise GaveUpError(f"{change} is not to be seen")
            time.sleep(0.05)


class Reader:
    """A consumer's reports of its partitions and records.

    group: whether it is in the workload's group. isolation: its isolation.level. share: whether the group is
    a share group.
    """

    def __init__(
        self,
        work: Work,
        name: str = "reader",
        *,
        group: bool = True,
        isolation: str = "read_uncommitted",
        share: bool = False,
    ) -> None:
        self.name = name
        """The consumer's name, which is also its client id."""
        self._report = work.report
        work.report(
            "consumer",
            consumer=name,
            group=work.group if group else None,
            isolation=isolation,
            reset="earliest",
            share=share or None,
        )

    def partition_assigned(self, topic: str, partition: int) -> None:
        """Report a partition that was assigned, or in which the consumer has sought."""
        self._report("assigned", consumer=self.name, topic=topic, partition=partition)

    def assigned(self, partitions: Iterable[Any]) -> None:
        """Report assigned partitions, objects with topic and partition."""
        for partition in partitions:
            self.partition_assigned(partition.topic, partition.partition)

    def consumed(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        """Report a record that the consumer received."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self._report("consumed", consumer=self.name, id=value.decode(), **at)

    def accepted(self, topic: str, partition: int, offset: int) -> None:
        """Report a record of a share group whose acknowledgement the broker confirmed."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self._report("accepted", consumer=self.name, **at)


class PendingRecords:
    """The records that no consumer has received yet, or that are not copied yet.

    stays: whether consumers stay for a while after the last record, as group members do, so that faults meet
    their heartbeats.
    """

    def __init__(self, work: Work, *, stays: bool = True) -> None:
        self._work = work
        self._stays = stays
        self._ids = set(work.ids)
        self._until = work.until
        self._ended = False

    def received(self, value: bytes) -> None:
        """Remove a received record."""
        self._ids.discard(value.decode())
        self._work.poll_error = None

    def unfinished(self) -> bool:
        """Return whether a consumer is to poll once more. Raises GaveUpError or the error of a poll."""
        if self._ids and time.monotonic() > self._until:
            undelivered = GaveUpError(f"{len(self._ids)} records were not delivered")
            raise self._work.poll_error or undelivered
        return not self._ended and (bool(self._ids) or (self._stays and self._work.stays))

    def run_members(self, members: list[Member], read: Callable[[Member], None]) -> None:
        """Run members of a group, each in a thread except the first, once its records were received.

        Raises the first exception of a member.
        """
        failed: list[BaseException] = []
        departed: set[str | None] = {None}

        def due(member: Member) -> bool:
            received = self._work.records - len(self._ids)
            return received >= member.after and member.follows in departed

        def run(member: Member) -> None:
            try:
                while not due(member) and self.unfinished():
                    time.sleep(0.02)
                if self.unfinished():
                    read(member)
            except BaseException as problem:  # noqa: BLE001 (raised below)
                failed.append(problem)
                self._ended = True
            departed.add(member.name)

        threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in members[1:]]
        for thread in threads:
            thread.start()
        run(members[0])
        for thread in threads:
            thread.join(self._work.patience)
        if failed:
            raise failed[0]
