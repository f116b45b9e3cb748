"""What a library's module, NAME_client, offers to the workloads (`workloads.py`).

It has classes that derive from those here, and their `Library`.

It runs beside `lines.py`, in a venv that has the client and nothing of this project.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from work import Reader, Work

RETENTION = "3600000"
"""What an administrator sets `retention.ms` of a topic to."""

COOPERATIVE = "cooperative-sticky"
"""The value of `partition.assignment.strategy` for cooperative rebalances (KIP-429)."""


class Record(NamedTuple):
    """A record that a consumer was given."""

    topic: str
    partition: int
    offset: int
    value: bytes


Place = tuple[str, int]
"""A topic and a partition."""

Ends = dict[Place, int]
"""The offset behind the last record that was read of each partition."""


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
    """A producer with the library's defaults but for some settings; the key of each record is its value."""

    failures: tuple[type[BaseException], ...] = ()
    """What is raised in a transaction that is to be aborted."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def send_all(
        self,
        records: list[str],
        topic: str,
        transaction: str | None = None,
        pause: float | None = None,
    ) -> None:
        """Hand records to the client and tell of each. pause: seconds after each."""
        for record in records:
            self.work.sent(record, transaction, topic)
            self.send(record, topic)
            if pause is not None:
                time.sleep(pause)

    def send(self, record: str, topic: str) -> None:
        """Hand a record to the client."""
        raise NotImplementedError

    @abc.abstractmethod
    def settle(self) -> None:
        """Wait until all records are acknowledged, and tell of each. Raises GaveUpError, and what the
        client raises."""

    @abc.abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abc.abstractmethod
    def send_offsets(self, ends: Ends, consumer: Any) -> None:
        """Commit offsets of a consumer of the library in the transaction."""

    @abc.abstractmethod
    def commit(self) -> None:
        """Commit the transaction."""

    @abc.abstractmethod
    def abort(self) -> None:
        """Abort the transaction."""

    @abc.abstractmethod
    def abort_failed(self, problem: Any) -> None:
        """Abort the transaction in which this was raised. Raises it where the producer can't go on."""


class ProducerWithFutures(Producer):
    """A producer of a library that gives a future for each record."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._sent: list[tuple[str, str, Any]] = []
        """Records that are not yet acknowledged, their topics and futures."""

    def send(self, record: str, topic: str) -> None:
        """Hand a record to the client."""
        self._sent.append((record, topic, self.future(record, topic)))

    def settle(self) -> None:
        """Wait for one record after the other, and tell of each."""
        sent, self._sent = self._sent, []
        for record, topic, future in sent:
            partition, offset = self.written(record, future)
            self.work.acknowledged(record, partition, offset, topic)

    def begin(self) -> None:
        """Forget the records of a transaction that failed."""
        self._sent = []

    @abc.abstractmethod
    def future(self, record: str, topic: str) -> Any:
        """Send a record; returns its future."""

    @abc.abstractmethod
    def written(self, record: str, future: Any) -> tuple[int, int]:
        """Wait for a record's future; returns its partition and offset. Raises GaveUpError, and what the
        client raises."""


class Consumer(Client):
    """A consumer that commits nothing by itself, and begins with the oldest records.

    It subscribes to the workload's topic if it has a `group.id`, else it is assigned all its partitions; the
    workload's `Reader` is told which ones it has.
    """

    @abc.abstractmethod
    def poll(self) -> list[Record]:
        """Poll once, for a tenth of a second."""

    @abc.abstractmethod
    def commit(self, ends: Ends) -> Ends:
        """Commit what was read; returns what is known to be committed, nothing if that failed."""

    @abc.abstractmethod
    def rewind(self) -> Iterable[Place]:
        """Go back to what the group has committed; returns the partitions."""


class ShareConsumer(Client):
    """A member of the workload's share group, which acknowledges each batch (KIP-932)."""

    @abc.abstractmethod
    def poll(self) -> list[Record]:
        """Poll once, for a tenth of a second."""

    @abc.abstractmethod
    def commit(self) -> set[Place]:
        """Acknowledge what was read; returns the partitions for which the broker took it."""


class Administrator(Client):
    """An administrator of topics."""

    @abc.abstractmethod
    def partitions(self, topic: str) -> int:
        """Return how many partitions a topic has; 0 if there is no such topic."""

    @abc.abstractmethod
    def create(self, topic: str) -> None:
        """Make a topic of two partitions."""

    @abc.abstractmethod
    def increase(self, topic: str) -> None:
        """Change a topic to three partitions."""

    @abc.abstractmethod
    def change(self, topic: str) -> None:
        """Set `retention.ms` to RETENTION."""

    @abc.abstractmethod
    def retention(self, topic: str) -> str | None:
        """Return `retention.ms` of a topic; None if the broker does not know of the topic yet."""

    @abc.abstractmethod
    def delete(self, topic: str) -> None:
        """Delete a topic."""


class Library(NamedTuple):
    """What makes the clients of a library.

    Settings have the names and values of Kafka's documentation (`enable.idempotence`, `group.protocol`).
    Each raises NotOfferedError if the release can't do what is asked for.
    """

    producer: Callable[[Work, dict[str, Any]], Producer]
    consumer: Callable[[Work, Reader, dict[str, Any]], Consumer]
    administrator: Callable[[Work], Administrator]
    share_consumer: Callable[[Work, Reader], ShareConsumer] | None = None


def underscored(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as kafka-python and its descendants name them."""
    own = {name.replace(".", "_"): value for name, value in settings.items()}
    if own.get("compression_type") == "none":
        own["compression_type"] = None
    return own


def listener(base: Any, reader: Reader) -> Any:
    """Return a listener for kafka-python and its descendants, which tells a reader what it is assigned."""

    class Listener(base):
        def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        def on_partitions_assigned(self, assigned: Any) -> None:
            reader.assigned(assigned)

    return Listener()
