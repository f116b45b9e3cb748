"""The cluster that cells run on: it is started when the first one needs it."""

from __future__ import annotations

import contextlib
import threading
from typing import Final, Self

from barnabas.experiments.clients.workloads import Workload
from barnabas.peers.apache.cluster import ApacheCluster
from barnabas.peers.embedded import EmbeddedCluster

NODES: Final = 3

EMBEDDED: Final = "embedded"
APACHE: Final = "apache:"
NEWEST: Final = "apache:4.3.1"

SETTINGS: Final = {
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "100",
}
"""Of Apache Kafka's brokers, beside the usual: what takes long there says nothing about clients."""


class Brokers:
    """From `with` to its end. wanted: embedded, apache:VERSION, or the address of a cluster."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self._running = contextlib.ExitStack()
        self._bootstrap = ""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def unable(self, workload: Workload) -> str:
        """Why they can't do a workload; empty: they can."""
        if self.wanted == EMBEDDED and not workload.embedded:
            return f"the embedded cluster can't do {workload.name} faithfully: --broker {NEWEST}"
        return ""

    @property
    def makes(self) -> bool:
        """See `trial.Place`."""
        return self.wanted != EMBEDDED

    def bootstrap(self) -> str:
        """Where they are; they are started first, if that was not done yet. Raises what that does."""
        with self._lock:
            if not self._bootstrap:
                self._bootstrap = self._start()
            return self._bootstrap

    def _start(self) -> str:
        if self.wanted == EMBEDDED:
            return self._running.enter_context(EmbeddedCluster(NODES)).bootstrap
        if self.wanted.startswith(APACHE):
            version = self.wanted.removeprefix(APACHE)
            cluster = ApacheCluster(version, NODES, settings=SETTINGS)
            return self._running.enter_context(cluster).bootstrap
        return self.wanted
