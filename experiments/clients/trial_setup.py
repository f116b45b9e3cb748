"""The brokers, the folder and the traffic of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from barnabas.experiments.clients.draws import Draw, plain
from barnabas.experiments.clients.workloads import PARTITIONS, Workload
from barnabas.peers.apache.cluster import ApacheCluster


class TrialSetup(NamedTuple):
    """The brokers of a trial, the folder for its files, and its traffic.

    makes: whether CreateTopics creates topics, not only their first use. settings: librdkafka's settings for
    these brokers. parameters: further parameters of the workload. drawn: the traffic; None: the plain one.
    cluster: the brokers, if the trial may restart them. keyed: whether records have the keys of the traffic:
    a program of one's own may choose others.
    """

    bootstrap: str
    folder: Path
    makes: bool = True
    settings: Mapping[str, Any] = {}
    parameters: Mapping[str, Any] = {}
    drawn: Draw | None = None
    cluster: ApacheCluster | None = None
    keyed: bool = True

    @property
    def librdkafka(self) -> dict[str, Any]:
        """Return librdkafka's settings of a client for these brokers."""
        return {"bootstrap.servers": self.bootstrap, "log_level": 0, **self.settings}

    def traffic(self, workload: Workload) -> Draw:
        """Return the traffic as far as the brokers allow it: some create topics on their own."""
        drawn = self.drawn or plain(workload)
        allowed: dict[str, Any] = {}
        if not self.makes:
            allowed = {"partitions": PARTITIONS, "history": "none"}
        if workload.compacted:  # brokers refuse to delete records
            allowed["history"] = "none"
        if workload.replicas > 1 or not self._moves_partitions:
            allowed["moved"] = False
        return drawn.model_copy(update=allowed)

    @property
    def _moves_partitions(self) -> bool:
        """Return whether partitions can be moved to other brokers (KIP-455, since 2.4)."""
        cluster = self.cluster
        return cluster is not None and len(cluster.nodes) > 1 and cluster.release.number >= (2, 4)
