"""Real brokers: Java and the versions named in the markers are needed."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers import processes as started
from barnabas.peers.apache import (
    ApacheCluster,
    BootError,
    Mode,
    UnknownVersionError,
    boot,
    probe,
)
from barnabas.peers.apache.probe import ask
from barnabas.peers.stopping import ended_by
from barnabas.specs import NAMES

METADATA, API_VERSIONS = 3, 18


def processes(running: ApacheCluster) -> list[int]:
    """Of brokers and ZooKeeper."""
    jvms = [broker.jvm for broker in running.nodes.values()]
    if running.zookeeper is not None:
        jvms.append(running.zookeeper)
    return [jvm.pid for jvm in jvms if jvm.pid is not None]


def directory(running: ApacheCluster) -> Path:
    return running.nodes[1].log.parents[1]


def left(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def metadata(running: ApacheCluster, node: int, version: int) -> dict[int, tuple[str, int]]:
    """The brokers that one of them tells."""
    answer = ask(running.nodes[node].port, METADATA, version, {"topics": []}, 5)
    return {one["node_id"]: (one["host"], one["port"]) for one in answer["brokers"]}


@pytest.mark.parametrize(
    ("version", "mode", "apis", "newest"),
    [
        pytest.param(*case, marks=pytest.mark.needs_apache(case[0]), id=f"{case[0]}-{case[1]}")
        for case in (
            ("4.3.1", Mode.KRAFT, 75, 13),
            ("2.8.0", Mode.ZOOKEEPER, 56, 11),
            ("0.8.2.2", Mode.ZOOKEEPER, None, 0),
        )
    ],
)
def test_one_broker_of_a_version(version: str, mode: Mode, apis: int | None, newest: int) -> None:
    with ApacheCluster(version) as running:
        assert running.mode is mode
        assert running.bootstrap == f"127.0.0.1:{running.nodes[1].port}"
        pids, files = processes(running), directory(running)
        assert len(left(pids)) == (1 if mode is Mode.KRAFT else 2)
        # every version of Metadata that it knows, by our own declarations
        for number in range(newest + 1):
            assert metadata(running, 1, number) == running.brokers
        if apis is not None:
            offered = ask(running.nodes[1].port, API_VERSIONS, 0, {}, 5)["api_keys"]
            assert len(offered) == apis
            assert {one["api_key"] for one in offered} <= set(NAMES)
            ranges = {one["api_key"]: (one["min_version"], one["max_version"]) for one in offered}
            assert ranges[METADATA] == (0, newest)
    assert left(pids) == []
    assert not files.exists()
    assert (running.nodes, running.bootstrap) == ({}, "")


@pytest.mark.needs_apache("4.3.1")
def test_a_new_cluster_has_the_features_of_its_version() -> None:
    with ApacheCluster("4.3.1") as running:
        body = {"client_software_name": "b", "client_software_version": "1"}
        answer = ask(running.nodes[1].port, API_VERSIONS, 3, body, 5)
    names = {feature["name"] for feature in answer["finalized_features"]}
    assert {"group.version", "transaction.version", "share.version"} < names


@pytest.mark.needs_apache("3.9.1")
def test_three_brokers_that_are_stopped_killed_paused_and_started() -> None:
    with ApacheCluster("3.9.1", 3) as running:
        everybody = running.brokers
        assert list(everybody) == [1, 2, 3]
        assert len({port for _, port in everybody.values()}) == 3
        for node in everybody:
            assert metadata(running, node, 12) == everybody
        pids, files = processes(running), directory(running)

        running.kill(3)
        assert running.nodes[3].pid is None
        assert left(pids) == pids[:2]
        assert running.ended() is None
        with pytest.raises(OSError, match="refused"):
            metadata(running, 3, 12)
        running.start(3)
        assert metadata(running, 3, 12) == everybody

        running.stop(2)
        assert running.nodes[2].pid is None
        assert metadata(running, 1, 12).keys() <= everybody.keys()

        running.pause(1)
        with pytest.raises(TimeoutError):
            ask(running.nodes[1].port, METADATA, 0, {"topics": []}, 0.3)
        assert running.nodes[1].pid == pids[0]
        running.resume(1)
        assert metadata(running, 1, 12)

        with pytest.raises(RuntimeError, match="running already"):
            running.start(1)
        with pytest.raises(RuntimeError, match="not running"):
            running.pause(2)
        running.pause(1)  # one that is paused must end too
        pids = processes(running)
    assert left(pids) == []
    assert not files.exists()


@pytest.mark.needs_apache("0.8.2.2")
def test_a_broker_that_was_killed_comes_back_although_zookeeper_still_counts_on_it() -> None:
    with ApacheCluster("0.8.2.2") as running:
        first = running.nodes[1].pid
        running.kill(1)
        assert running.ended() == "broker 1 of Kafka 0.8.2.2 ended with exit code -9"
        # from a thread that is over when the broker is up: it must live on
        thread = threading.Thread(target=running.start, args=(1,))
        thread.start()
        thread.join()
        assert metadata(running, 1, 0) == running.brokers
        assert running.nodes[1].pid not in (None, first)


@pytest.mark.parametrize(
    ("version", "settings", "said"),
    [
        pytest.param(*case, marks=pytest.mark.needs_apache(case[0]), id=case[0])
        for case in (
            ("4.3.1", {"process.roles": "x"}, r"formatting .* exit code 1.*\n.*process\.roles"),
            ("3.9.1", {"num.io.threads": "-1"}, r"broker 1 of Kafka 3\.9\.1 ended.*\n.*num\.io"),
            ("0.8.2.2", {"num.io.threads": "x"}, r"broker 1 .* ended while it started.*\n.*\"x\""),
        )
    ],
)
def test_a_broker_that_can_not_start_says_why_and_leaves_nothing(
    version: str, settings: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = watched(monkeypatch)
    with pytest.raises(BootError, match=f"(?s){said}"), ApacheCluster(version, settings=settings):
        pass
    assert len(directories) == 1
    assert not directories[0].exists()


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The directories of clusters that are started from now on."""
    directories: list[Path] = []

    @contextlib.contextmanager
    def folder() -> Iterator[Path]:
        with temporary() as path:
            directories.append(path)
            yield path

    temporary = started.folder
    monkeypatch.setattr(started, "folder", folder)
    return directories


@pytest.mark.needs_apache("0.8.2.2")
def test_a_start_is_stopped_by_the_event_of_its_thread() -> None:
    stop = threading.Event()
    stop.set()
    with ended_by(stop), pytest.raises(BootError, match="was stopped while it started"):
        ApacheCluster("0.8.2.2").__enter__()


@pytest.mark.needs_apache("0.8.2.2")
def test_one_that_is_not_ready_in_time_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    directories = watched(monkeypatch)
    monkeypatch.setattr(probe, "brokers", lambda *_: set())
    running = ApacheCluster("0.8.2.2", timeout=5)  # ZooKeeper is ready in a fraction of it
    with pytest.raises(BootError, match=r"broker 1 of Kafka 0\.8\.2\.2 was not ready"), running:
        pass
    assert [broker.pid for broker in running.nodes.values()] == [None]
    assert not any(path.exists() for path in directories)


@pytest.mark.needs_apache("0.8.2.2")
@pytest.mark.parametrize("which", [0, 1], ids=["zookeeper", "broker"])
def test_a_port_that_somebody_takes_is_exchanged(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = boot.free_ports
    tries: list[list[int]] = []

    with socket.create_server(("127.0.0.1", 0)) as other:

        def ports(count: int) -> list[int]:
            found = real(count)
            if not tries:
                found[which] = other.getsockname()[1]
            tries.append(found)
            return found

        monkeypatch.setattr(boot, "free_ports", ports)
        with ApacheCluster("0.8.2.2") as running:
            assert len(tries) == 2
            assert running.nodes[1].port == tries[1][1]


@pytest.mark.needs_apache("0.8.2.2")
@pytest.mark.parametrize("when", ["booting", "running"])
def test_an_interrupt_leaves_nothing(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    directories = watched(monkeypatch)
    seen: list[int] = []

    def interrupt(running: ApacheCluster) -> None:
        seen.extend(processes(running))
        raise KeyboardInterrupt

    running = ApacheCluster("0.8.2.2")
    if when == "booting":
        monkeypatch.setattr(probe, "brokers", lambda *_: interrupt(running))
    with pytest.raises(KeyboardInterrupt), running:
        interrupt(running)
    assert len(seen) == 2
    assert left(seen) == []
    assert not directories[0].exists()


@pytest.mark.parametrize(("how", "error", "said"), [
    ({"version": "3.9.1", "nodes": 0}, ValueError, "0 brokers"),
    ({"version": "nine"}, UnknownVersionError, "'nine' is not a version"),
    ({"version": "4.3.1", "mode": Mode.ZOOKEEPER}, UnknownVersionError, "4.3.1 .* zookeeper"),
    ({"version": "2.8.0", "mode": Mode.KRAFT}, UnknownVersionError, "with kraft"),
])  # fmt: skip
def test_what_can_not_be_is_refused_before_anything_starts(
    how: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        ApacheCluster(**how)
