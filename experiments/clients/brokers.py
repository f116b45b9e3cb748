"""The cluster of the table's cells, started for the first cell that needs it."""

from __future__ import annotations

import contextlib
import threading
from typing import Final, Self

from barnabas.broker_kinds import LIBRDKAFKA
from barnabas.experiments.clients.broker_versions import broker_settings, creates_topics
from barnabas.experiments.clients.workloads import ROLLING_RESTART, Workload
from barnabas.peers.apache.cluster import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster

NODES: Final = 3

APACHE: Final = "apache:"
NEWEST: Final = "apache:4.3.1"


class Brokers:
    """A cluster from `with` to its end.

    Args:
        requested: librdkafka, apache:VERSION, or an address.
        restart: whether brokers are restarted meanwhile.
    """

    def __init__(self, requested: str, *, restart: bool = False) -> None:
        self.requested = requested
        self._restart = restart
        self._running = contextlib.ExitStack()
        self._bootstrap = ""
        self.cluster: ApacheCluster | None = None
        """The brokers, if they run and are started here."""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def unable(self, workload: Workload) -> str:
        """Return the reason why the brokers do not support a workload; empty: they do."""
        started = self.requested.startswith(APACHE)
        if workload.during == ROLLING_RESTART and not started:
            return f"{workload.name} restarts brokers: --broker {NEWEST}"
        if self.requested == LIBRDKAFKA and not workload.mock:
            return f"librdkafka's mock can't do {workload.name} faithfully: --broker {NEWEST}"
        return ""

    @property
    def version(self) -> str:
        """Return the version of Apache Kafka; empty: unknown."""
        requested = self.requested
        return requested.removeprefix(APACHE) if requested.startswith(APACHE) else ""

    @property
    def makes(self) -> bool:
        """Return whether CreateTopics creates topics on these brokers, see `trial.TrialSetup`."""
        return self.requested != LIBRDKAFKA and creates_topics(self.version)

    def bootstrap(self) -> str:
        """Return the bootstrap servers; start the brokers first, if they do not run yet.

        Raises the errors of `EmbeddedCluster` and `ApacheCluster`.
        """
        with self._lock:
            if not self._bootstrap:
                self._bootstrap = self._start()
            return self._bootstrap

    def _start(self) -> str:
        if self.requested == LIBRDKAFKA:
            return self._running.enter_context(EmbeddedCluster(NODES)).bootstrap
        if self.requested.startswith(APACHE):
            settings = broker_settings(self.version, restart=self._restart)
            cluster = ApacheCluster(self.version, NODES, settings=settings)
            self.cluster = self._running.enter_context(cluster)
            return self.cluster.bootstrap
        return self.requested
