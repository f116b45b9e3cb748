"""`barnabas proxy --workers`: one log, one capture, and what a dead worker costs."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.peers.embedded import EmbeddedCluster
from tests.barnabas.cli.command import run
from tests.barnabas.cli.test_app import started
from tests.real.controlled import answers, controlled
from tests.real.load import Sender, asking, working
from tests.real.process import ProxyProcess, passed
from tests.waiting import until

pytestmark = pytest.mark.slow("several processes for each")

CLOCK = timedelta(milliseconds=500)
"""Between the moment when a worker looks at the clock and that when it writes: it may be stopped there."""

TOPICS = ("one", "two")
PARTITIONS = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(2, topics=dict.fromkeys(TOPICS, PARTITIONS)) as it:
        yield it


def ended(proxy: ProxyProcess) -> str:
    """Ask it to end, and return what it said."""
    proxy.terminate()
    assert proxy.wait() == 0
    return proxy.said


@contextmanager
def asked(
    cluster: EmbeddedCluster, options: tuple[object, ...], clients: int, times: int, **body: Any
) -> Iterator[tuple[ProxyProcess, list[list[int]]]]:
    """A proxy that clients have asked for ApiVersions so many times each."""
    with ProxyProcess(cluster.bootstrap, *map(str, options)) as proxy:
        with ExitStack() as load:
            answered = [load.enter_context(asking(proxy.address, **body)) for _ in range(clients)]
            until(lambda: all(len(each) > times for each in answered), "exchanges of each")
        yield proxy, answered


def test_log_and_capture_are_one_and_in_order(cluster: EmbeddedCluster, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    options = ("--workers", 3, "--log", "json", "--log-wait", "--capture", capture)
    with asked(cluster, options, 6, 100) as (proxy, answered):
        assert len(proxy.workers) == 3
        output = ended(proxy)
    result = proxy.exchanges
    assert len(result) == passed(output) == sum(map(len, answered))
    assert " not printed" not in output
    assert {row["connection"] for row in result} == {1, 2, 3, 4, 5, 6}
    for number in range(1, 7):
        ids = [row["correlation_id"] for row in result if row["connection"] == number]
        assert ids == [*range(len(ids))]
    assert sum(1 for _ in open_capture(capture).exchanges()) == len(result)
    times = [
        datetime.fromisoformat(row["ts"]) + timedelta(milliseconds=row["latency_ms"])
        for row in result
    ]
    assert max(before - after for before, after in pairwise(times)) < CLOCK
    assert "6 connections" in output
    assert "capture: " in output
    assert " lost" not in output


def test_a_rotated_capture_of_several_workers_has_all(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    options = ("--workers", 2, "--capture", folder, "--rotate", "128KiB")
    with asked(cluster, options, 4, 300, client_software_name="n" * 1000) as (proxy, _):
        output = ended(proxy)
    segments = sorted(folder.glob("*.pcapng"))
    assert len(segments) > 3
    assert output.count(" is closed") == len(segments)
    assert sum(1 for _ in open_capture(folder).exchanges()) == passed(output)
    assert " lost" not in output
    for path in segments:  # each can be read alone
        assert {each.api for each in open_capture(path).exchanges()} == {"ApiVersions"}


def await_more(senders: list[Sender]) -> None:
    """Until each has some more records acknowledged."""
    marks = [len(sender.acknowledged) + 50 for sender in senders]
    until(
        lambda: all(len(it.acknowledged) > mark for it, mark in zip(senders, marks, strict=True)),
        "acknowledgements",
    )


def kill(proxy: ProxyProcess, worker: int) -> None:
    """Kill a worker and wait for another one in its place."""
    os.kill(worker, signal.SIGKILL)
    until(lambda: len(proxy.workers) == 2 and worker not in proxy.workers, "another worker")


def test_real_clients_lose_nothing_when_a_worker_is_killed(
    cluster: EmbeddedCluster, tmp_path: Path
) -> None:
    capture = tmp_path / "run.pcapng"
    options = ("--workers", "2", "--log", "json", "--capture", str(capture))
    with ProxyProcess(cluster.bootstrap, *options) as proxy:
        with working(proxy.bootstrap, cluster.bootstrap, TOPICS, PARTITIONS) as senders:
            for killed in proxy.workers:
                await_more(senders)
                kill(proxy, killed)
            await_more(senders)
        output = ended(proxy)
    gone = re.findall(
        r"worker (\d) ended \(signal 9\) and is replaced: (\d+) connections? lost", output
    )
    assert sorted(worker for worker, _ in gone) == ["1", "2"]
    lost = sum(int(count) for _, count in gone)
    assert lost
    assert f"{lost} lost with workers that ended" in output
    exchanges = open_capture(capture).exchanges()
    assert sum(each.api == "Produce" for each in exchanges) > 100


def test_what_a_dead_worker_counted_stays_and_another_rule_counts_anew(
    cluster: EmbeddedCluster,
) -> None:
    slow = "version: 1\nrules: [{{name: slow, match: {{api: ApiVersions}}, do: {{delay: {}}}}}]"
    with controlled(cluster) as (proxy, it, clients):

        def counted() -> dict[str, float]:
            lines = it.text("GET", "/metrics").splitlines()
            words = [line.rsplit(" ", 1) for line in lines if line.startswith("barnabas_")]
            return {
                name: float(value) for name, value in words if re.search(r"_total\b|_count\b", name)
            }

        it.ask("PUT", "/scenario", slow.format("1ms").encode())
        answers(clients)
        before = counted()
        assert before['barnabas_rule_fired_total{rule="slow"}'] == 8
        for killed in proxy.workers:
            kill(proxy, killed)
        assert counted() == before, "open connections' bytes too"
        result = it.ask("PUT", "/scenario", slow.format("2ms").encode())
        assert [each["matched"] for each in result["rules"]] == [0]
        assert counted()['barnabas_faults_total{fault="delay"}'] == 8


def test_workers_end_with_their_supervisor(cluster: EmbeddedCluster) -> None:
    options = ("-b", cluster.bootstrap, "--listen", "127.0.0.1:0", "--workers", "2")
    with started("proxy", *options) as (process, _):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        process.communicate(timeout=20)  # ends when nobody has its stdout any more
    assert len(children) == 3
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children), "they have ended")


@pytest.mark.parametrize("text", ["0", "-1", "two", "65", "1.5", ""])
def test_a_wrong_number_is_said(text: str) -> None:
    result = run("proxy", "-b", "127.0.0.1:1", f"--workers={text}")
    assert result.returncode == 2
    assert f"--workers {text}: give a number from 1 to 64, or auto" in result.stderr
