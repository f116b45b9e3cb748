"""The interface between a library's module, NAME_client, and the workloads (`workloads.py`).

NAME_client derives classes from those here and offers them as a `Library`. It runs beside `lines.py`, in a
venv that has the client and nothing of this project.
"""

from __future__ import annotations

import abc
import contextlib
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from work import GaveUpError, PlannedRecord, Reader, Sends, Work

RETENTION = "3600000"
"""The `retention.ms` that an administrator sets."""

COOPERATIVE = "cooperative-sticky"
"""The value of `partition.assignment.strategy` for cooperative rebalances (KIP-429)."""

OPTIONAL = (
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "max.partition.fetch.bytes",
    "max.poll.records",
    "session.timeout.ms",
)
"""Settings of consumers that a library may lack."""


class Record(NamedTuple):
    """A record that a consumer received."""

    topic: str
    partition: int
    offset: int
    value: bytes
    """Its id."""


def record_id(key: bytes | None, value: bytes | None) -> bytes:
    """Return the id of a record: its value up to the padding, or its key if it has no value."""
    return value.partition(b"|")[0] if value else key or b""


Partition = tuple[str, int]
"""A topic and a partition."""

Offsets = dict[Partition, int]
"""The offset after the last record read, by partition."""


class Client(abc.ABC):
    """A client of the library, from `with` to its end."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """Close the client."""


class Producer(Client):
    """A producer with default settings except some."""

    failures: tuple[type[BaseException], ...] = ()
    """Exceptions after which a transaction is to be aborted."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.name: str | None = None
        """Of several producers that send to a topic: the order of records is promised within one."""

    def send_all(self, sends: Sends, transaction: str | None = None) -> None:
        """Send records and report each."""
        for records in sends:
            for record in records:
                self.work.sent(record.id, record.topic, transaction, self.name)
                self.send(record)
            time.sleep(self.work.pause)

    def send(self, record: PlannedRecord) -> None:
        """Send a record without waiting."""
        raise NotImplementedError

    @abc.abstractmethod
    def settle(self) -> None:
        """Wait until all records are acknowledged, and report each.

        Raises:
            GaveUpError: An acknowledgement is missing after the timeout. The client's own errors are raised,
                too.
        """

    def finish(self) -> None:
        """End the last round as `Work.ending` says, and raise the first error of a record."""
        if self.work.ending == "await":
            self.settle()
            return
        if self.work.ending == "flush":
            self.flush()
        else:
            self.close_with_records()
        self.report_outcomes()

    @abc.abstractmethod
    def flush(self) -> None:
        """Call the library's flush."""

    @abc.abstractmethod
    def close_with_records(self) -> None:
        """Close the client, which is to complete its records before."""

    @abc.abstractmethod
    def report_outcomes(self) -> None:
        """Report records that have an outcome, without waiting, and raise the first error of one."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abc.abstractmethod
    def send_offsets(self, offsets: Offsets, consumer: Any) -> None:
        """Commit a consumer's offsets in the transaction."""

    @abc.abstractmethod
    def commit(self) -> None:
        """Commit the transaction."""

    @abc.abstractmethod
    def abort(self) -> None:
        """Abort the transaction."""

    @abc.abstractmethod
    def abort_failed(self, problem: Any) -> None:
        """Abort the transaction after `problem`, or raise it if the producer can't continue."""


class ProducerWithFutures(Producer):
    """A producer of a library that returns a future for each record."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._sent: list[tuple[PlannedRecord, Any]] = []
        """Records that are not yet acknowledged, and their futures."""

    def send(self, record: PlannedRecord) -> None:
        """Send a record without waiting."""
        self._sent.append((record, self.future(record)))

    def settle(self) -> None:
        """Wait for the records in turn, and report each."""
        self._report(self.work.patience)

    def report_outcomes(self) -> None:
        """Report records whose future is done, and raise the first error of one."""
        with contextlib.suppress(GaveUpError):
            self._report(0)

    def _report(self, timeout: float) -> None:
        sent, self._sent = self._sent, []
        late: GaveUpError | None = None
        failed: BaseException | None = None
        for record, future in sent:
            try:
                at = self.written(record, future, 0 if late else timeout)
            except GaveUpError as problem:
                late = late or problem
            except self.failures as problem:
                self.work.record_error(record.id, record.topic, problem)
                failed = failed or problem
            else:
                self.work.acknowledged(record.id, record.topic, *at)
        if failed or late:
            raise failed or late  # type: ignore[misc]

    def begin(self) -> None:
        """Forget the records of a failed transaction."""
        self._sent = []

    @abc.abstractmethod
    def future(self, record: PlannedRecord) -> Any:
        """Send a record and return its future."""

    @abc.abstractmethod
    def written(self, record: PlannedRecord, future: Any, timeout: float) -> tuple[int, int]:
        """Wait for a record's future, and return its partition and offset. timeout: in seconds.

        Raises:
            GaveUpError: It did not complete in time. The client's own errors are raised, too.
        """


class Consumer(Client):
    """A consumer without automatic commits that starts at the oldest records.

    With a `group.id` it subscribes to the workload's topics, or to a pattern; otherwise all partitions are
    assigned. The workload's `Reader` learns its partitions.
    """

    @abc.abstractmethod
    def poll(self) -> list[Record]:
        """Poll once, for a tenth of a second."""

    @abc.abstractmethod
    def commit(self, offsets: Offsets) -> Offsets:
        """Commit all positions, and return those of `offsets`; empty if that failed."""

    @abc.abstractmethod
    def commit_some(self, offsets: Offsets) -> Offsets:
        """Commit these offsets only, and return them; empty if that failed."""

    @abc.abstractmethod
    def pause(self) -> None:
        """Pause all assigned partitions."""

    @abc.abstractmethod
    def resume(self) -> None:
        """Resume all assigned partitions."""

    @abc.abstractmethod
    def rewind(self) -> Iterable[Partition]:
        """Seek to the group's committed offsets, and return the partitions."""


class ShareConsumer(Client):
    """A member of the workload's share group, which acknowledges each batch (KIP-932)."""

    @abc.abstractmethod
    def poll(self) -> list[Record]:
        """Poll once, for a tenth of a second."""

    @abc.abstractmethod
    def commit(self) -> set[Partition]:
        """Acknowledge the records read, and return the partitions for which the broker confirmed it."""


class Administrator(Client):
    """An administrator of topics."""

    @abc.abstractmethod
    def partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic; 0 if it does not exist."""

    @abc.abstractmethod
    def create(self, topic: str) -> None:
        """Create a topic of two partitions."""

    @abc.abstractmethod
    def increase(self, topic: str) -> None:
        """Increase a topic to three partitions."""

    @abc.abstractmethod
    def change(self, topic: str) -> None:
        """Set `retention.ms` to RETENTION."""

    @abc.abstractmethod
    def retention(self, topic: str) -> str | None:
        """Return `retention.ms` of a topic; None if the broker does not know the topic yet."""

    @abc.abstractmethod
    def delete(self, topic: str) -> None:
        """Delete a topic."""


class Library(NamedTuple):
    """Factories of a library's clients.

    Settings have the names and values of Kafka's documentation (`enable.idempotence`, `group.protocol`). The
    last argument of `consumer` is a regular expression of topics, or None. Each factory raises
    NotOfferedError if the release lacks a feature.
    """

    producer: Callable[[Work, dict[str, Any]], Producer]
    consumer: Callable[[Work, Reader, dict[str, Any], str | None], Consumer]
    administrator: Callable[[Work], Administrator]
    share_consumer: Callable[[Work, Reader], ShareConsumer] | None = None


def offered(settings: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return settings without optional ones that a library does not know."""
    return {name: settings[name] for name in settings if name not in OPTIONAL or name in known}


def named_timestamp(optional: dict[str, Any]) -> dict[str, Any]:
    """Return a record's optional parts with the names that kafka-python and its descendants use."""
    return {"timestamp_ms" if name == "timestamp" else name: optional[name] for name in optional}


def underscored(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the names that kafka-python and its descendants use."""
    named = {name.replace(".", "_"): value for name, value in settings.items()}
    if named.get("compression_type") == "none":
        named["compression_type"] = None
    return named


def listener(base: Any, reader: Reader) -> Any:
    """Return a rebalance listener of kafka-python and its descendants that reports assignments."""

    class Listener(base):
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            reader.assigned(assigned)

    return Listener()
