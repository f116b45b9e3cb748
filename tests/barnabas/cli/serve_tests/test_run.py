"""`barnabas serve-tests` as a program starts and stops it."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from barnabas.peers.apache.client import JavaClient
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import started
from tests.barnabas.testing.server.served import Server, producer, send
from tests.compat.connections import family
from tests.peers.kfake_ends import end_kfake
from tests.remaining import remaining
from tests.waiting import until


@pytest.mark.needs_go("franz-go@1.21.4")
@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["kfake", "librdkafka", "apache:4.3.1"])
def test_brokers_that_are_started_are_behind_the_proxies(kind: str) -> None:
    with started("serve-tests", "-b", kind) as (process, ready):
        pids = family(process.pid)
        test = Server(ready["control"], ready["token"]).begin(name="one")
        with producer(test) as maker:
            send(maker)
        process.send_signal(signal.SIGTERM)
        note = remaining(process, 60)[1]
    assert (note.count("\n"), process.returncode) == (1, 0), note
    assert kind.partition(":")[0] in note.lower()
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.needs_go("kfake")
@pytest.mark.needs_apache("4.3.1")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", [(), ("-b", "librdkafka")])
def test_java_can_use_both_embedded_clusters(kind: tuple[str, ...]) -> None:
    with started("serve-tests", *kind) as (process, ready):
        test = Server(ready["control"], ready["token"]).begin(name="java")
        with JavaClient("4.3.1", {"bootstrap.servers": test["bootstrap"]}) as java:
            assert len(java.produce("orders", [b"value"])) == 1
        process.send_signal(signal.SIGTERM)
        remaining(process, 60)


def test_a_killed_server_leaves_no_captures_in_the_temporary_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with started("serve-tests", "-b", "127.0.0.1:9", env=environment) as (process, ready):
        capture = Path(Server(ready["control"], ready["token"]).begin(name="cut")["capture"])
        assert capture.is_relative_to(tmp_path)
        assert capture.exists()
        process.kill()
    until(lambda: not any(tmp_path.iterdir()))


@pytest.mark.needs_go("kfake")
def test_a_cluster_that_dies_is_reported_and_gets_no_proxies() -> None:
    reason = "kfake ended with exit code 2: panic: runtime error: "
    with started("serve-tests", "-b", "kfake") as (process, ready):
        end_kfake(ready["bootstrap"])
        assert process.stderr is not None
        assert process.stderr.readline().startswith("kfake ")
        line = process.stderr.readline()
        answer = Server(ready["control"], ready["token"]).ask("POST", "/tests", {"name": "late"})
        process.send_signal(signal.SIGTERM)
        assert remaining(process, 60)[1] == ""
    assert line.startswith(f"barnabas: {reason}")
    assert line.endswith("; restart serve-tests\n")
    assert answer.status == 503
    assert f"no proxy can be started: {reason}" in answer.body.decode()


@pytest.mark.parametrize(
    ("cluster", "code", "line"),
    [
        ("apach:4.3.1", 2, "; or embedded, apache:VERSION, kfake, librdkafka"),
        ("kfak", 3, "kfak: no such host, and no kind of brokers (embedded, apache, kfake, "),
    ],
)
def test_neither_an_address_nor_a_kind_of_brokers(cluster: str, code: int, line: str) -> None:
    result = run("serve-tests", "-b", cluster)
    assert result.returncode == code
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_and_leaves_nothing_but_the_captures_that_were_asked_for(
    tmp_path: Path, ending: signal.Signals
) -> None:
    token, captures = tmp_path / "token", tmp_path / "made" / "captures"
    options = ("-b", "librdkafka", "--captures", str(captures), "--token-file", str(token))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with started("serve-tests", *options, env=environment) as (process, ready):
        assert token.read_text().strip() == ready["token"]
        server = Server(ready["control"], ready["token"])
        test = server.begin(name="left alone")
        with producer(test) as maker:
            send(maker)
            process.send_signal(ending)
            note = remaining(process, 60)[1]
    assert (note.count("\n"), process.returncode) == (1, 0), note
    (capture,) = captures.iterdir()
    assert capture == Path(test["capture"])
    assert capture.name == f"left_alone-{test['id']}.pcapng"
    assert list(temporary.iterdir()) == []
    where, port = test["bootstrap"].split(":")
    with socket.socket() as other:
        assert other.connect_ex((where, int(port))) != 0
