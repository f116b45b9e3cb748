"""Members of a group in front of real brokers: what each owned, what it read, what it was told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from barnabas.captures.kafka.exchange import Exchange
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.kafka import QUICK, fired, made_topic, numbers, send, through
from tests.waiting import SOON, until

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
        self.leave()

    def leave(self) -> None:
        """Close the consumer, and wait until that is done."""
        self._leave.set()
        self._thread.join()


class Group:
    """Members of one group behind a proxy; all of them leave at its end."""

    def __init__(self, bootstrap: str, proxy: Harness, topic: str) -> None:
        self.proxy, self.topic = proxy, topic
        self.members: list[Member] = []
        self.sent = 0
        self._bootstrap = bootstrap
        self._running = ExitStack()

    def join(self, count: int = 1, settings: Mapping[str, Any] = CLASSIC) -> None:
        """So many more members come, all at once: member-0, member-1 and so on."""
        for _ in range(count):
            name = f"member-{len(self.members)}"
            member = Member(name, self.proxy.bootstrap, self.topic, settings)
            self.members.append(self._running.enter_context(member))

    def send(self, count: int) -> None:
        """Send so many records to the partitions in turn, past the proxy."""
        send(self._bootstrap, self.topic, numbers(count, self.sent), partitions=PARTITIONS)
        self.sent += count

    @property
    def received(self) -> Counter[Record]:
        """What came to all members together, and how often."""
        return Counter(record for member in self.members for record in list(member.received))

    @property
    def twice(self) -> int:
        """How many records came again."""
        return self.received.total() - len(self.received)

    @property
    def committed(self) -> int:
        """Up to how many records the group has committed."""
        client = Consumer({**QUICK, "bootstrap.servers": self._bootstrap, "group.id": self.topic})
        try:
            partitions = [TopicPartition(self.topic, number) for number in range(PARTITIONS)]
            return sum(max(one.offset, 0) for one in client.committed(partitions, timeout=SOON))
        finally:
            client.close()

    @property
    def told(self) -> list[str]:
        """What all members were told."""
        return [what for member in self.members for what in member.told]

    @property
    def stayed(self) -> bool:
        """Whether each member kept the id that it joined with."""
        return all(len(ids) == 1 for ids in self.member_ids.values())

    def work(self) -> None:
        """Share 60 records more, and commit them."""
        self.send(60)
        self.until_shared()
        self.until_done()

    def work_until(self, rule: str, times: int = 1) -> list[Exchange]:
        """Send and read until a rule has fired so often; gives the exchanges on which it did."""
        watched = self.proxy.rules.rule(rule)
        while watched.fired < times:
            self.send(12)
            until(
                lambda: len(self.received) == self.sent or watched.fired >= times,
                f"records, or {rule}",
            )
        return fired(self.proxy, rule)

    def until_shared(self) -> None:
        """Wait until every partition is one member's and all have as many. Raises TimeoutError."""

        def shared() -> bool:
            owned = Counter(one for member in self.members for one in member.owned)
            sizes = {len(member.owned) for member in self.members}
            return len(sizes) == 1 and owned == Counter(range(PARTITIONS))

        until(shared, f"{len(self.members)} members share {self.topic}")

    def until_done(self) -> None:
        """Wait until all that was sent has come and is committed. Raises TimeoutError."""
        until(lambda: len(self.received) == self.sent, f"{self.sent} records come")
        until(lambda: self.committed == self.sent, f"{self.sent} records are committed")

    def exchanges(self, *apis: str) -> list[Exchange]:
        """Those of some APIs that are over, in the order of the requests."""
        found = [one for one in list(self.proxy.exchanges) if one.api in apis]
        return sorted(found, key=lambda exchange: exchange.ts)

    @property
    def member_ids(self) -> dict[str | None, set[str]]:
        """Client id -> the member ids with which it joined."""
        found: dict[str | None, set[str]] = {}
        for one in self.exchanges("JoinGroup", "ConsumerGroupHeartbeat"):
            assert one.request is not None
            found.setdefault(one.client_id, set()).update({one.request["member_id"]} - {""})
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()


@contextmanager
def group_behind(scenario: str, cluster: ApacheCluster, suffix: str = "") -> Iterator[Group]:
    """A group without members behind a proxy with that scenario; its topic is named like it."""
    with group_of(through(scenario, cluster.bootstrap), cluster, scenario + suffix) as group:
        yield group


@contextmanager
def group_of(proxy: Harness, cluster: ApacheCluster, topic: str) -> Iterator[Group]:
    """A group without members behind that proxy."""
    made_topic(cluster.bootstrap, topic, PARTITIONS)
    with proxy, Group(cluster.bootstrap, proxy, topic) as group:
        yield group


def configure_group(bootstrap: str, group: str, settings: Mapping[str, str]) -> None:
    """Set what brokers keep for a group; it need not be there yet."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    about = ConfigResource(ResourceType.GROUP, group, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.incremental_alter_configs([about])[about].result(SOON)


def meet_newcomer(group: Group) -> None:
    """Two members are at work when a third one comes and a coordinator fails.

    Returns when all three are at work and have got everything; nobody had to begin anew for it.
    """
    group.join(2)
    group.work()
    until(lambda: group.proxy.rules.rule("a group is at work").fired, "heartbeats")
    group.join()
    group.work()
    assert group.twice == 0
    assert group.stayed
    asked = fired(group.proxy, "another one is looked for")
    assert [one.error for one in asked] == ["COORDINATOR_NOT_AVAILABLE"] * 4


def generation(exchange: Exchange) -> int:
    """The generation that a JoinGroup was answered with, or in which another request was made."""
    body = exchange.response if exchange.api == "JoinGroup" else exchange.request
    return -1 if body is None else int(body["generation_id"])
