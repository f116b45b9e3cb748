"""What every workload in Python is given: what is wanted of it, and who is told what happens.

It runs beside `lines.py`, in a venv that has the client and nothing of this project.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any


class GaveUpError(Exception):
    """A workload waited longer than it is told to: the client said neither that it is done nor that it
    failed."""


class NotOfferedError(Exception):
    """The library can't do what is asked for."""

    def __init__(self) -> None:
        super().__init__("this library does not offer it")


class Work:
    """A workload: what is wanted, and who is told."""

    at_once = 5
    """Records of a transaction, and that are read before their offsets are committed."""
    attempts = 5
    """At a transaction."""
    rounds = 5
    """Topics that an administrator makes, changes and deletes."""

    def __init__(self, asked: dict[str, Any], out: Callable[[dict[str, Any]], None]) -> None:
        work = asked["work"]
        self.bootstrap: str = asked["bootstrap"]
        self.topic: str = asked["topic"]
        self.partitions: int = work["partitions"]
        """Of the topic, and of the one that is written to."""
        self.records: int = work["records"]
        self.patience: float = work["patience"]
        """Seconds after which it gives up."""
        self.pause: float = work["pause"]
        """Seconds between two records that are sent."""
        self.codecs: list[str] = work.get("codecs", [])
        """Compressions that the brokers know, as compression.type has them."""
        self.broker = tuple(int(part) for part in work.get("broker", "").split(".") if part)
        """The brokers' version, where clients have to be told; else empty."""
        self._leaves = time.monotonic() + work["stay"]
        self.group = self.topic + "-group"
        self.output = self.topic + "-out"
        """The topic to which read-process-write copies."""
        self._out = out

    def tell(self, event: str, **facts: Any) -> None:
        """Say what has happened."""
        self._out(
            {"event": event, **{name: each for name, each in facts.items() if each is not None}}
        )

    @property
    def ids(self) -> list[str]:
        """The values of the records."""
        return [f"{self.topic}-{number}" for number in range(self.records)]

    @property
    def batches(self) -> list[list[str]]:
        """The same, for a transaction each."""
        ids = self.ids
        return [ids[at : at + self.at_once] for at in range(0, len(ids), self.at_once)]

    @property
    def coded(self) -> list[tuple[str, list[str]]]:
        """The same, for a producer of each compression."""
        ids = self.ids
        return [(codec, ids[at :: len(self.codecs)]) for at, codec in enumerate(self.codecs)]

    @staticmethod
    def aborts(number: int) -> bool:
        """Whether a transaction is aborted on purpose: each third one."""
        return number % 3 == 2

    @property
    def stays(self) -> bool:
        """Whether a consumer stays in its group although it has read all."""
        left: bool = time.monotonic() < self._leaves
        return left

    @property
    def until(self) -> float:
        """When it gives up (time.monotonic), counted from now."""
        return time.monotonic() + self.patience

    def sent(
        self,
        record: str,
        transaction: str | None = None,
        topic: str | None = None,
        producer: str | None = None,
    ) -> None:
        """A record is handed to the client; producer: among whose records order is promised."""
        about = {"transaction": transaction, "producer": producer}
        self.tell("sent", id=record, topic=topic or self.topic, **about)

    def acknowledged(
        self, record: str, partition: int, offset: int | None, topic: str | None = None
    ) -> None:
        """The client says that it is written; a negative offset is none."""
        at = None if offset is None or offset < 0 else offset
        self.tell(
            "acknowledged", id=record, topic=topic or self.topic, partition=partition, offset=at
        )

    def ended(self, transaction: str, outcome: str) -> None:
        """The client says what became of a transaction."""
        self.tell("transaction", transaction=transaction, outcome=outcome)

    def committed(self, topic: str, partition: int, offset: int) -> None:
        """An offset of its group that it knows to be committed."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self.tell("offset_committed", group=self.group, **at)

    def shown(self, what: str, look: Callable[[], bool]) -> None:
        """Look until it is so: what was changed is seen a little later. Raises GaveUpError."""
        until = self.until
        while not look():
            if time.monotonic() > until:
                raise GaveUpError(f"{what} is not to be seen")
            time.sleep(0.05)


class Reader:
    """A consumer that tells what it is given.

    group: whether it is in one. isolation: as isolation.level has it. share: whether the group is a share
    group.
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
        """Its client id, too."""
        self._tell = work.tell
        work.tell(
            "consumer",
            consumer=name,
            group=work.group if group else None,
            isolation=isolation,
            reset="earliest",
            share=share or None,
        )

    def got(self, topic: str, partition: int) -> None:
        """A partition that it was assigned, or in which it has sought."""
        self._tell("assigned", consumer=self.name, topic=topic, partition=partition)

    def assigned(self, places: Iterable[Any]) -> None:
        """Partitions that it was assigned: with topic and partition."""
        for place in places:
            self.got(place.topic, place.partition)

    def consumed(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        """A record that it was given."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self._tell("consumed", consumer=self.name, id=value.decode(), **at)

    def accepted(self, topic: str, partition: int, offset: int) -> None:
        """A record of a share group whose acknowledgement it knows to be taken."""
        at = {"topic": topic, "partition": partition, "offset": offset}
        self._tell("accepted", consumer=self.name, **at)


class Missing:
    """The records that no consumer was given yet, or that are not copied yet. stays: whether consumers go
    on for a while when they have all, as members of groups do, who meet faults while they heartbeat."""

    def __init__(self, work: Work, *, stays: bool = True) -> None:
        self._work = work
        self._stays = stays
        self._ids = set(work.ids)
        self._until = work.until
        self._ended = False
        self._begun = threading.Event()

    def found(self, value: bytes) -> None:
        """One was given to a consumer."""
        self._ids.discard(value.decode())
        self._begun.set()

    def goes_on(self) -> bool:
        """Whether a consumer is to poll once more. Raises GaveUpError."""
        if self._ids and time.monotonic() > self._until:
            raise GaveUpError(f"{len(self._ids)} records were not delivered")
        return not self._ended and (bool(self._ids) or (self._stays and self._work.stays))

    def by_two(self, read: Callable[[str], None]) -> None:
        """Have two members read, named so: the second joins once the first was given a record. Raises what
        either does."""
        failed: list[BaseException] = []

        def later() -> None:
            try:
                while not self._begun.wait(0.05) and self.goes_on():
                    pass
                read("reader-2")
            except BaseException as problem:  # noqa: BLE001 (raised below)
                failed.append(problem)
                self._ended = True

        second = threading.Thread(target=later, daemon=True)
        second.start()
        try:
            read("reader-1")
        finally:
            self._ended = True
            second.join(self._work.patience)
        if failed:
            raise failed[0]
