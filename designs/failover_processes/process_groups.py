"""A group on brokers that are processes: its producers, the records that it reads, and ZooKeeper's view."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.processes.cluster import ProcessCluster
from barnabas.designs.brokers.processes.designs import design_of
from barnabas.designs.brokers.processes.session import leave, session
from barnabas.designs.brokers.registry.broker_ids import BrokerIds
from barnabas.designs.brokers.registry.zookeeper import ZooKeeperElector
from barnabas.designs.consumer_rewrite.peers.coordinator import slot_of
from barnabas.designs.leaders import TopicPartition
from barnabas.designs.protocol_guide.client_0_8 import Client, Message

EVERY: Final = 0.05
"""s between two records of a partition."""
SILENT: Final = 1.0
"""Timeout of a producer's response in seconds."""
PATIENCE: Final = 60.0
"""s in which a record has to be acknowledged."""


class ReadRecords:
    """The records that the consumers of a group have read."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self.times: dict[TopicPartition, Counter[int]] = {}
        """The number of reads of each offset."""
        self.values: set[tuple[TopicPartition, bytes]] = set()
        self.again: dict[TopicPartition, int] = {}
        """The time, in ns, of the first record that was produced after `since`."""
        self.since = 0

    def take(self, partition: TopicPartition, offset: int, message: Message) -> None:
        """Note that a consumer has read a record; its value is the time of its production."""
        value = message.value or b""
        self.times.setdefault(partition, Counter())[offset] += 1
        self.values.add((partition, value))
        if self.since and int(value) > self.since:
            self.again.setdefault(partition, time.time_ns())

    def least(self) -> int:
        """Return the number of records read of the partition with the fewest."""
        return min(map(len, self.times.values())) if len(self.times) == self._partitions else 0


class Producer:
    """A thread that produces records to a partition, and repeats each until it is acknowledged."""

    def __init__(self, bootstrap: Iterable[Address], partition: TopicPartition) -> None:
        self.acknowledged: list[tuple[TopicPartition, bytes]] = []
        self._over = threading.Event()
        self._client = Client(bootstrap, timeout=SILENT, patience=PATIENCE)
        self._place = partition
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the response to the request in flight."""
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        with self._client as client:
            while not self._over.wait(EVERY):
                value = b"%d" % time.time_ns()
                client.produce({self._place: [Message(None, value)]})
                self.acknowledged.append((self._place, value))


@contextmanager
def producing(
    bootstrap: tuple[Address, ...], topic: str, partitions: int
) -> Iterator[list[Producer]]:
    """Run a producer for each partition of a topic."""
    producers = [Producer(bootstrap, (topic, number)) for number in range(partitions)]
    try:
        yield producers
    finally:
        for producer in producers:
            producer.stop()


class Watch:
    """A view of ZooKeeper: the live brokers, and the coordinator of a group."""

    def __init__(self, cluster: ProcessCluster, group: str) -> None:
        self._client = session(cluster.zookeeper)
        design = design_of(cluster.design)
        election = slot_of(group, design.elections)
        path = f"{cluster.root}/coordinators/{election}"
        self._ids = BrokerIds(self._client, cluster.root, lambda: None)
        self._elector = ZooKeeperElector(self._client, path, design.rank(election))

    @property
    def live(self) -> Collection[int]:
        """Return the brokers that have a session."""
        return self._ids.live

    @property
    def coordinator(self) -> int | None:
        """Return the elected broker."""
        leader = self._elector.leader()
        return None if leader is None else leader.candidate

    def close(self) -> None:
        """Close the session."""
        leave(self._client)
