"""Members of a group in front of real brokers: what each owned, what it read, what it was told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaException, TopicPartition

from barnabas.harness import Harness
from tests.experiments.scenarios.kafka import QUICK, numbers, send, until

PARTITIONS: Final = 6
"""Of a topic that a group shares: one, two, three members can own as many each."""

HEARTBEAT: Final = 0.2
"""Seconds between two heartbeats of a member."""

COMMON: Final[dict[str, Any]] = {
    **QUICK,
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "fetch.wait.max.ms": 50,
}
CLASSIC: Final[dict[str, Any]] = {
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": int(HEARTBEAT * 1000),
}
CONSUMER: Final[dict[str, Any]] = {"group.protocol": "consumer"}

Record = tuple[int, int]
"""Partition and offset."""


class Member:
    """A consumer of confluent-kafka in a thread, which commits what it has read, batch by batch."""

    def __init__(
        self, name: str, bootstrap: str, topic: str, settings: Mapping[str, Any] = CLASSIC
    ) -> None:
        self.name = name
        self.owned: frozenset[int] = frozenset()
        self.received: list[Record] = []
        self.told: list[str] = []
        """What was assigned, revoked and lost, and the errors of commits by their names, in order."""
        self._leave = threading.Event()
        own = {"client.id": name, "bootstrap.servers": bootstrap, "group.id": topic}
        self._consumer = Consumer({**COMMON, **own, **settings})
        self._consumer.subscribe(
            [topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        self._thread = threading.Thread(target=self._work, name=name)

    def _assigned(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.told.append("assigned")
        self.owned |= {one.partition for one in partitions}

    def _revoked(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.told.append("revoked")
        self.owned -= {one.partition for one in partitions}

    def _lost(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.told.append("lost")
        self.owned -= {one.partition for one in partitions}

    def _work(self) -> None:
        while not self._leave.is_set():
            found = [one for one in self._consumer.consume(10, timeout=0.05) if one.error() is None]
            self.received += [(one.partition() or 0, one.offset() or 0) for one in found]
            if found:
                self._commit()
        self._consumer.close()

    def _commit(self) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as problem:
            self.told.append(problem.args[0].name())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._thread.join()


class Group:
    """Members of one group behind a proxy; all of them leave at its end."""

    def __init__(self, bootstrap: str, proxy: Harness, topic: str) -> None:
        self.bootstrap, self.proxy, self.topic = bootstrap, proxy, topic
        self.members: list[Member] = []
        self.sent = 0
        self._running = ExitStack()

    def join(self, count: int = 1, settings: Mapping[str, Any] = CLASSIC) -> list[Member]:
        """So many more members, all at once."""
        new = [
            self._running.enter_context(
                Member(f"member-{len(self.members) + n}", self.proxy.bootstrap, self.topic, settings)
            )
            for n in range(count)
        ]
        self.members += new
        return new

    @property
    def shared(self) -> bool:
        """Whether every partition is one member's, and every member has as many."""
        sizes = {len(member.owned) for member in self.members}
        owned = Counter(one for member in self.members for one in member.owned)
        return len(sizes) == 1 and owned == Counter(range(PARTITIONS))

    def until_shared(self, seconds: float = 30.0) -> None:
        """Wait until it is. Raises TimeoutError."""
        until(lambda: self.shared, f"{self.owned} become shared evenly", seconds)

    @property
    def owned(self) -> dict[str, list[int]]:
        """What each member owns."""
        return {member.name: sorted(member.owned) for member in self.members}

    def send(self, count: int) -> None:
        """Send so many records to the partitions in turn, past the proxy."""
        send(self.bootstrap, self.topic, numbers(count, self.sent), partitions=PARTITIONS)
        self.sent += count

    @property
    def received(self) -> Counter[Record]:
        """What came to all members together, and how often."""
        return Counter(record for member in self.members for record in member.received)

    def until_received(self) -> None:
        """Wait until all that was sent has come. Raises TimeoutError."""
        until(lambda: len(self.received) == self.sent, f"{self.sent} records come")

    def told(self) -> dict[str, list[str]]:
        """What each member was told."""
        return {member.name: member.told for member in self.members}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.__exit__(None, None, None)
