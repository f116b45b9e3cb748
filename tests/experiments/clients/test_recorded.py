"""A small table, as recorded: what three clients do under five scenarios before Kafka 4.3.1."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from barnabas.experiments.clients import trial
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Asked, Matrix
from barnabas.experiments.clients.workloads import find
from barnabas.experiments.library import find as find_scenario
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients.python import program
from barnabas.proxy.scenario.file import load

CLIENTS: Final = ("aiokafka", "confluent", "kafka_python")

RECORDED: Final = {
    "none": ("fine", "fine", "fine"),
    "api-versions-refused": ("not met", "fine", "fine"),
    "idempotence-not-offered": ("fails", "fails", "fails"),
    "produce-timed-out": ("fine", "fine", "fine"),
    "storage-error": ("fine", "fine", "fine"),
    "topic-not-known-yet": ("fine", "fine", "fine"),
}
"""Scenario -> what is said of each client's idempotent producer. aiokafka asks for ApiVersions v0 first.
None of these has phases: whether a client meets those in one run is a matter of time."""


@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(300)
def test_cells_are_as_recorded(
    cluster: ApacheCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SOON", 60.0)
    here = Path(sys.executable)
    clients = [(name, partial(program, here, name)) for name in CLIENTS]
    scenarios = [(name, load(find_scenario(Path(name)))) for name in RECORDED if name != "none"]
    folder = Folder(tmp_path)
    with Brokers(cluster.bootstrap) as brokers:
        asked = Asked(clients, [find("idempotent")], scenarios, trials=1)
        found = {
            (cell.scenario, cell.client): cell for cell in Matrix(asked, brokers, folder).run()
        }
    folder.close()
    words = {
        name: tuple(found[name, client].verdict.word for client in CLIENTS) for name in RECORDED
    }
    assert words == RECORDED, {cell.name: cell.verdict.why for cell in found.values()}
