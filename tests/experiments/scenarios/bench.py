"""A client in front of real brokers, with a ready scenario between them: what it does, in one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.expectations import Check
from tests.experiments.scenarios.kafka import (
    FEW,
    JAVA,
    SINGLY,
    at_once,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    spread,
    through,
)
from tests.experiments.scenarios.leaders import move_leader
from tests.peers.java.client import FullClient

SASL: Final = {
    "listeners": "PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port},"
    "SASL_PLAINTEXT://127.0.0.1:{spare_port}",
    "advertised.listeners": "PLAINTEXT://127.0.0.1:{port},SASL_PLAINTEXT://127.0.0.1:{spare_port}",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain"
    '.PlainLoginModule required user_alice="secret";',
    "listener.name.sasl_plaintext.plain.connections.max.reauth.ms": "1000",
}
"""What brokers are told for a second listener, at each one's spare port: sessions of alice end after 1 s."""


class Row(NamedTuple):
    """A scenario, a client, and what is expected of both: all that is sent is there, once and in order.

    work: `write` (with the client, through the proxy), `read` (what somebody else writes meanwhile, past the
    proxy), `read stored` (what somebody else has written), `write, read`, `write and read` (at the same
    time). own: settings of the client. few: one record a response is read, with librdkafka. seconds: over
    which is written. moved: the leader was broker 2, is 3. again: what was read may come again. errors: of
    which the reader is told. sasl: clients log in as alice.
    """

    scenario: str
    client: str
    work: str
    check: Check
    records: int = 60
    partitions: int = 1
    own: Mapping[str, Any] = {}
    few: bool = False
    seconds: float = 0.0
    replicas: int = 1
    moved: bool = False
    again: bool = False
    errors: tuple[str, ...] = ()
    sasl: bool = False

    @property
    def topic(self) -> str:
        """Its topic, and its name."""
        return f"{self.scenario}-{self.client}-{self.work}".replace(",", "").replace(" ", "-")


class Trial:
    """A row with brokers."""

    def __init__(self, row: Row, cluster: ApacheCluster, java: FullClient | None) -> None:
        self.row, self.cluster, self.java = row, cluster, java
        self.values = numbers(row.records)
        self.got: Sequence[bytes | None] = ()

    def run(self) -> None:
        """Do its work and check what came of it. Raises AssertionError."""
        row, direct = self.row, self.cluster.bootstrap
        made_topic(direct, row.topic, row.partitions, leader=1 + row.moved, replicas=row.replicas)
        if row.moved:
            move_leader(self.cluster, row.topic, 3)
        if row.work == "read stored":
            send(direct, row.topic, self.values, partitions=row.partitions)
        with through(row.scenario, with_sasl(self.cluster) if row.sasl else direct) as proxy:
            self._work(proxy.bootstrap)
        row.check(proxy)
        if row.work.startswith("write"):
            assert read_log(direct, row.topic) == spread(self.values, row.partitions)
        if "read" in row.work:
            self._check_reading()

    def _work(self, bootstrap: str) -> None:
        row = self.row
        if row.work == "write and read":
            at_once(lambda: self._write(bootstrap), lambda: self._read(bootstrap))
        elif row.work == "read":
            at_once(self._write_past, lambda: self._read(bootstrap))
        else:
            if "write" in row.work:
                self._write(bootstrap)
            if "read" in row.work:
                self._read(bootstrap)

    def _write_past(self) -> None:
        row = self.row
        send(
            self.cluster.bootstrap,
            row.topic,
            self.values,
            partitions=row.partitions,
            seconds=row.seconds,
        )

    def _write(self, bootstrap: str) -> None:
        row = self.row
        if self.java is not None:
            settings = {**JAVA, **SINGLY, **row.own, "bootstrap.servers": bootstrap}
            self.java.produce(row.topic, self.values, settings=settings)
            return
        sent = send(
            bootstrap,
            row.topic,
            self.values,
            row.own,
            partitions=row.partitions,
            seconds=row.seconds,
        )
        assert sent.failed == {}

    def _read(self, bootstrap: str) -> None:
        row = self.row
        if self.java is not None:
            settings = {**JAVA, **row.own, "bootstrap.servers": bootstrap}
            found = self.java.consume(row.topic, row.records, group=row.topic, settings=settings)
            self.got = [one.value for one in found]
            return
        received = receive(
            bootstrap, row.topic, row.records, {**row.own, **(FEW if row.few else {})}
        )
        assert received.errors == [*row.errors]
        self.got = received.values

    def _check_reading(self) -> None:
        if self.row.again:
            assert {*self.got} == {*self.values}
        elif self.row.partitions > 1:
            assert sorted(one or b"" for one in self.got) == sorted(self.values)
        else:
            assert self.got == self.values


def with_sasl(cluster: ApacheCluster) -> str:
    """Where the brokers' second listeners are."""
    return ",".join(f"127.0.0.1:{broker.node.spare_port}" for broker in cluster.nodes.values())
