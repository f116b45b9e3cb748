"""A broker on which many groups run at once through a proxy, and the evidence of each group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from barnabas.designs.rebalances import arms, broker_log, broker_log_reader, timed_exchanges
from barnabas.designs.rebalances.figures import Run
from barnabas.designs.rebalances.java.client import FollowingClient
from barnabas.experiments.experiment import Bench
from barnabas.peers.apache import ApacheCluster, JavaOptions

TOPIC = "records"
PATIENCE = 300.0
"""Seconds that a broker may take to start: campaigns run on busy machines, too."""


class Bed:
    """A broker of one version with a topic of RECORDS records in two partitions, and its clients."""

    def __init__(self, version: str, bench: Bench) -> None:
        self.version = version
        self._bench = bench
        self._clients: dict[str, FollowingClient] = {}
        self._numbered = 0

    def __enter__(self) -> Self:
        java = JavaOptions(levels={**arms.LEVELS, "org.apache.kafka.coordinator.group": "INFO"})
        with ExitStack() as stack:
            self._cluster = stack.enter_context(
                ApacheCluster(
                    self.version,
                    settings=arms.BROKER,
                    java=java,
                    timeout=PATIENCE,
                )
            )
            client = self._client(stack, self.version)
            client.create_topic(TOPIC, 2)
            numbers = [(number % 2, number // 2) for number in range(arms.RECORDS)]
            values = [b"%d-%d" % record_number for record_number in numbers]
            client.produce(TOPIC, values, partitions=[partition for partition, _ in numbers])
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def _client(self, stack: ExitStack, version: str) -> FollowingClient:
        if version not in self._clients:
            at = {"bootstrap.servers": self._cluster.bootstrap}
            self._clients[version] = stack.enter_context(FollowingClient(version, at))
        return self._clients[version]

    def names(self, count: int) -> list[str]:
        """Return unused names of groups, all of five characters."""
        self._numbered += count
        return [f"g{number:04d}" for number in range(self._numbered - count, self._numbered)]

    def run(
        self,
        groups: Mapping[str, Sequence[Mapping[str, Any]]],
        name: str,
        scenario: str | None,
        client: str = "",
    ) -> list[Run]:
        """Let groups follow their scripts.

        Args:
            groups: By name, the members as `FollowingClient.follow` has them.
            name: The name of the proxy's folder.
            scenario: The proxy's scenario; None: without a proxy.
            client: The version of the clients; empty: the broker's.
        """
        log = self._cluster.nodes[1].log
        begin = log.stat().st_size
        java = self._client(self._stack, client or self.version)
        with self._between(name, scenario) as (bootstrap, capture):
            settings = {"bootstrap.servers": bootstrap}
            count = arms.RECORDS
            events_of_groups = java.follow(TOPIC, count, list(groups.values()), settings=settings)
        with log.open("rb") as file:
            file.seek(begin)
            served, turns = broker_log.read(file.read().decode(errors="replace").splitlines())
        offsets = broker_log_reader.read(broker_log_reader.segments(log.parent))
        exchanges = [] if capture is None else timed_exchanges.read(capture)
        return [
            Run(
                name,
                dict(zip((letter(item) for item in members), events, strict=True)),
                [item for item in exchanges if item.group == name],
                [item for item in served if item.client_id.startswith(f"{name}.")],
                [item for item in turns if item.group == name],
                offsets.get(name, []),
            )
            for (name, members), events in zip(groups.items(), events_of_groups, strict=True)
        ]

    @contextmanager
    def _between(self, name: str, scenario: str | None) -> Iterator[tuple[str, Path | None]]:
        if scenario is None:
            yield self._cluster.bootstrap, None
            return
        with self._bench.between(self._cluster.bootstrap, scenario, name) as between:
            yield between.bootstrap_server, between.capture


def letter(member: Mapping[str, Any]) -> str:
    """Return a member's letter, which follows the point in its client id."""
    return str(member["settings"]["client.id"]).rpartition(".")[2]
