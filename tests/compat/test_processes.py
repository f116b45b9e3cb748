"""The proxy and a capture beside a client; where a process is connected to."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from threading import Event

import pytest

from barnabas.experiments.clients.trial import Place
from barnabas.peers.embedded import EmbeddedCluster
from tests.compat import connections, processes
from tests.compat.cells import Side
from tests.compat.plan import EMBEDDED, prepared, wanted, work
from tests.compat.sides import side

pytestmark = pytest.mark.slow("processes of their own")


def produces(cluster: EmbeddedCluster, listen: str, tmp_path: Path) -> Side:
    """confluent-kafka, behind that address."""
    place = Place(cluster.bootstrap, tmp_path / "side", makes=False)
    asked = work(EMBEDDED, "confluent-kafka", "produce")
    program = prepared(EMBEDDED, "confluent-kafka")
    found = side(program, wanted("produce"), place, listen, asked, Event())
    assert found.problem is None
    return found


def test_the_proxy_names_its_listeners_and_complains_of_nothing(tmp_path: Path) -> None:
    with EmbeddedCluster(2) as cluster:
        with processes.proxy(cluster.bootstrap) as running:
            found = produces(cluster, running.listen, tmp_path)
            listeners = running.listeners
        assert len(listeners) == 3
        if connections.ABLE:
            assert found.addresses
        assert found.addresses <= listeners
        assert running.told == listeners - {running.listen}
        assert (running.complaints, running.findings) == ([], [])


def test_a_client_beside_the_proxy_is_seen_at_the_brokers(tmp_path: Path) -> None:
    with EmbeddedCluster(2) as cluster:
        found = produces(cluster, cluster.bootstrap, tmp_path)
        brokers = {f"{host}:{port}" for host, port in cluster.brokers.values()}
    assert found.addresses <= brokers
    assert found.addresses or not connections.ABLE


def test_a_proxy_may_log_all_and_leave_its_capture(tmp_path: Path) -> None:
    capture = tmp_path / "kept.pcapng"
    with (
        EmbeddedCluster(2) as cluster,
        processes.proxy(cluster.bootstrap, "json", capture) as running,
    ):
        produces(cluster, running.listen, tmp_path)
    assert running.shown == running.exchanges > 10
    assert running.undecoded == 0
    assert capture.stat().st_size > 1000


def test_what_passes_on_the_wire_is_checked_where_it_may_be_captured(tmp_path: Path) -> None:
    with EmbeddedCluster(2) as cluster:
        with processes.wire(cluster.bootstrap) as wired:
            produces(cluster, cluster.bootstrap, tmp_path)
        if wired.trouble:
            assert "right to open raw sockets" in " ".join(wired.trouble.split())
            return
        assert wired.exchanges > 10
        assert (wired.complaints, wired.findings) == ([], [])


@pytest.mark.skipif(not connections.ABLE, reason="connections are read in /proc")
def test_connections_of_a_process_and_its_children_are_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        assert f"{host}:{port}" not in connections.connected([os.getpid()])
        with socket.create_connection((host, port)):
            assert f"{host}:{port}" in connections.connected(connections.family(os.getpid()))
