"""A client that hangs, dies or answers; where a process is connected to."""

from __future__ import annotations

import os
import socket
import textwrap
from pathlib import Path

import pytest

from barnabas.peers.embedded import EmbeddedCluster
from tests.compat import processes
from tests.compat.cells import Side
from tests.compat.clients import connections

pytestmark = pytest.mark.slow("processes of their own")


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("import time; time.sleep(60)", Side(problem="timed out after 2 s")),
        (
            "raise SystemExit('no luck')",
            Side(problem="the client's process ended with 1, saying: no luck"),
        ),
        (
            """print('{"error": "Bad: two\\\\nlines", "addresses": ["a:1"]}')""",
            Side(problem="Bad: two lines", addresses=frozenset({"a:1"})),
        ),
        (
            """print('{"result": [1], "addresses": []}')""",
            Side([1]),
        ),
    ],
)
def test_whatever_a_client_does_is_a_result(
    text: str, side: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tests" / "compat" / "clients"
    package.mkdir(parents=True)
    (package / "fake.py").write_text(textwrap.dedent(text))
    monkeypatch.setattr(processes, "HERE", tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert processes.run_client("fake", "produce", {}, deadline=2) == side


def test_the_proxy_names_its_listeners_and_complains_of_nothing() -> None:
    with EmbeddedCluster(2) as cluster:
        with processes.proxy(cluster.bootstrap) as running:
            asked = {"bootstrap": running.listen, "version": [], "name": "t"}
            side = processes.run_client("confluent", "produce", asked)
            assert side.problem is None
            assert side.addresses <= running.listeners
            assert len(running.listeners) == 3
        assert (running.complaints, running.findings) == ([], [])
        brokers = {f"{host}:{port}" for host, port in cluster.brokers.values()}
        asked["bootstrap"] = cluster.bootstrap
        assert processes.run_client("confluent", "produce", asked).addresses <= brokers


def test_a_proxy_may_log_all_and_leave_its_capture(tmp_path: Path) -> None:
    capture = tmp_path / "kept.pcapng"
    with (
        EmbeddedCluster(2) as cluster,
        processes.proxy(cluster.bootstrap, "json", capture) as running,
    ):
        asked = {"bootstrap": running.listen, "version": [], "name": "t"}
        assert processes.run_client("confluent", "produce", asked).problem is None
    assert running.shown == running.exchanges > 10
    assert running.undecoded == 0
    assert capture.stat().st_size > 1000


def test_what_passes_on_the_wire_is_checked_where_it_may_be_captured() -> None:
    with EmbeddedCluster(2) as cluster:
        asked = {"bootstrap": cluster.bootstrap, "version": [], "name": "t"}
        with processes.wire(cluster.bootstrap) as wired:
            assert processes.run_client("confluent", "produce", asked).problem is None
        if wired.trouble:
            assert "right to open raw sockets" in " ".join(wired.trouble.split())
            return
        assert wired.exchanges > 10
        assert (wired.complaints, wired.findings) == ([], [])


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="connections are read in /proc")
def test_connections_of_a_process_and_its_children_are_seen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host, port = server.getsockname()
        assert f"{host}:{port}" not in connections.connected([os.getpid()])
        with socket.create_connection((host, port)):
            assert f"{host}:{port}" in connections.connected(connections.family(os.getpid()))
