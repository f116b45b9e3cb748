"""`barnabas peers`: what there is, and brokers from their ready line to a signal."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from barnabas.addresses import parse_address
from barnabas.broker_kinds import KINDS
from barnabas.peers.apache import probe
from barnabas.peers.apache.boot import free_ports
from barnabas.peers.apache.versions import RELEASES
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import started
from tests.compat.connections import family
from tests.peers.kfake_absent import with_go
from tests.peers.kfake_ends import end_kfake
from tests.remaining import remaining

NEEDS_APACHE = pytest.mark.needs_apache("3.9.1")


def addresses_of(ready: dict[str, Any]) -> list[tuple[str, int]]:
    return [parse_address(address) for address in ready["bootstrap"].split(",")]


def test_the_list_names_the_versions_seen_working() -> None:
    result = run("peers", "list")
    assert result.returncode == 0
    embedded, apache, versions, kfake, librdkafka, *_ = result.stdout.splitlines()
    assert embedded.startswith("embedded ")
    assert apache.startswith("apache ")
    assert kfake.startswith("kfake ")
    assert librdkafka.startswith("librdkafka ")
    assert versions.split("tested: ")[1].split(", ") == [one.version for one in RELEASES]


def test_programs_get_a_row_for_each_that_can_be_started() -> None:
    rows = run("peers", "list", "--json").rows
    own = ["embedded", *(f"apache:{one.version}" for one in RELEASES), "kfake", "librdkafka"]
    assert [row["start"] for row in rows][: len(own)] == own
    assert tuple(dict.fromkeys(row["kind"] for row in rows))[:4] == KINDS
    assert rows[0] == {
        "kind": "embedded",
        "start": "embedded",
        "version": None,
        "modes": [],
        "needs": "needs go on the path, a wheel with kfake, or barnabas with the extra 'peers'",
    }
    by_version = {row["version"]: row for row in rows}
    assert by_version["3.9.1"]["modes"] == ["kraft", "zookeeper"]
    assert by_version["0.8.2.2"]["modes"] == ["zookeeper"]


@pytest.mark.parametrize(
    ("number", "options", "count"),
    [
        (signal.SIGINT, ("--brokers", "2"), 2),
        (signal.SIGTERM, (), 3),
        (signal.SIGHUP, (), 3),
    ],
)
def test_librdkafka_s_mock_ends_on_a_signal(
    number: int, options: tuple[str, ...], count: int
) -> None:
    with started("peers", "start", "librdkafka", *options) as (process, ready):
        assert ready["pid"] == process.pid
        addresses = addresses_of(ready)
        assert len(addresses) == count
        for address in addresses:
            socket.create_connection(address, timeout=60).close()
        process.send_signal(number)
        rest, errors = remaining(process, 60)
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in errors


@pytest.mark.needs_go("kfake")
@pytest.mark.timeout(600)
def test_two_brokers_of_kfake_answer_and_end_on_a_signal() -> None:
    with started("peers", "start", "kfake", "--nodes", "2") as (process, ready):
        addresses = addresses_of(ready)
        assert len(addresses) == 2
        for _, port in addresses:
            assert len(probe.brokers(port, (3, 9, 1))) == 2
        pids = family(process.pid)
        process.send_signal(signal.SIGTERM)
        rest, errors = remaining(process, 60)
    assert (process.returncode, rest) == (0, "")
    assert errors.startswith("kfake 01f206a7e32c, topics are created on first use")
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.needs_go("kfake")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "kind", ["embedded", "kfake", pytest.param("apache:3.9.1", marks=NEEDS_APACHE)]
)
def test_brokers_listen_where_they_are_told(kind: str) -> None:
    port = free_ports(1)[0]
    where = ("--nodes", "1", "--listen", f"127.0.0.1:{port}")
    with started("peers", "start", kind, *where) as (process, ready):
        assert addresses_of(ready) == [("127.0.0.1", port)]
        assert len(probe.brokers(port, (3, 9, 1))) == 1
        process.send_signal(signal.SIGTERM)
        remaining(process, 60)


@pytest.mark.needs_go("kfake")
@pytest.mark.timeout(600)
def test_the_embedded_cluster_is_kfake_with_go() -> None:
    with started("peers", "start", "embedded") as (process, ready):
        assert ready["kind"] == "kfake"
        addresses = addresses_of(ready)
        assert len(addresses) == len(probe.brokers(addresses[0][1], (3, 9, 1))) == 3
        process.send_signal(signal.SIGTERM)
        errors = remaining(process, 60)[1]
    assert errors.startswith("kfake 01f206a7e32c, topics are created on first use, with 4 part")


@pytest.mark.needs_go("kfake")
def test_brokers_that_end_by_themselves_end_the_command() -> None:
    with started("peers", "start", "kfake") as (process, ready):
        end_kfake(ready["bootstrap"])
        last_line = remaining(process, 20)[1].splitlines()[-1]
    assert process.returncode == 3
    assert last_line.startswith("barnabas: kfake ended with exit code 2: panic: runtime error: ")


@pytest.mark.parametrize(
    ("version", "problems"),
    [
        ("go1.25.4", []),
        (
            "go1.26.0",
            ["building kfake 01f206a7e32c", "kfake 01f206a7e32c can't be built: no network"],
        ),
    ],
)
def test_the_embedded_cluster_is_librdkafka_s_mock_without_kfake(
    version: str, problems: list[str], tmp_path: Path
) -> None:
    environment = {**os.environ, **with_go(version, tmp_path)}
    with started("peers", "start", "embedded", env=environment) as (process, ready):
        assert ready["kind"] == "librdkafka"
        assert len(addresses_of(ready)) == 3
        process.send_signal(signal.SIGTERM)
        lines = remaining(process, 60)[1].splitlines()
    expected = [*problems, "librdkafka's mock, topics are created on first use, with 4 partitions"]
    assert len(lines) == len(expected)
    assert all(line.startswith(start) for line, start in zip(lines, expected, strict=True)), lines


@pytest.mark.parametrize(
    ("kind", "listen", "problem"),
    [
        ("librdkafka", "127.0.0.1:9092", "librdkafka's mock brokers choose their ports"),
        ("kfake", "0.0.0.0:9092", "these brokers listen on 127.0.0.1 only"),
        ("kfake", "127.0.0.1:{taken}", "Address already in use; choose another port"),
        ("apache:4.3.1", "127.0.0.1:{taken}", "Address already in use; choose another port"),
    ],
)
def test_where_brokers_can_not_listen(kind: str, listen: str, problem: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        result = run("peers", "start", kind, "--listen", listen.format(taken=taken))
    assert result.returncode == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.needs_apache("3.9.1")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are read in /proc")
def test_three_real_brokers_end_on_sigterm_and_leave_no_process() -> None:
    with started("peers", "start", "apache:3.9.1", "--nodes", "3") as (process, ready):
        addresses = addresses_of(ready)
        assert len(addresses) == 3
        for _, port in addresses:
            assert probe.brokers(port, (3, 9, 1)) == {1, 2, 3}
        pids = family(process.pid)
        assert len(pids) >= 5  # itself, three brokers, the guard
        process.send_signal(signal.SIGTERM)
        rest, errors = remaining(process, 60)
    assert (process.returncode, rest) == (0, "")
    assert errors == "Apache Kafka 3.9.1, kraft; Ctrl-C stops the brokers\n"
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


LATE = """
import os, signal, threading, time
from barnabas.cli.peers import run
from barnabas.stop_signals import interruptible

pipes, pipe, main = [], os.pipe, threading.get_native_id()

def kept():
    pipes.append(pipe())
    return pipes[-1]

def signal_elsewhere():
    # a signal in another thread interrupts no wait of the main one: as if it had come just before it
    argument = lambda: open(f"/proc/self/task/{main}/syscall").read().split()[1:2]
    while not pipes or argument() != [hex(pipes[0][0] + 1)]:  # of select(2)
        time.sleep(0.001)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

os.pipe = kept
threading.Thread(target=signal_elsewhere, daemon=True).start()
try:
    with interruptible():
        run._until_signal(lambda: None)
except KeyboardInterrupt:
    print("not lost")
"""


def test_a_signal_that_interrupts_no_wait_is_not_lost() -> None:
    found = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (found.stdout, found.returncode) == ("not lost\n", 0), found.stderr
