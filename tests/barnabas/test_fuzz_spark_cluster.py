"""Campaigns on a real standalone Spark cluster, as a user runs them: executors share nothing with us."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzz.findings import Findings
from tests.pipeline.spark_processes import LITTLE, standalone

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 400.0
ALL = 480

CAMPAIGN = """\
version: 1
target: embedded
seed: 5
apis: [Metadata, Produce]
sessions: [none]
captures: [mine.pcap]
budget: {cases: 480}
round: 240
"""

TARGET = "fuzz.targets.embedded_process"
EXECUTOR = "CoarseGrainedExecutorBackend"

pytestmark = pytest.mark.timeout(900)


class Cluster:
    """A cluster, and the processes that run below its folder."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self._folder = url, folder

    def processes(self, named: str) -> list[int]:
        """Those that executors are, or have started, whose command line has this in it."""
        return [
            pid
            for pid, place, line in _processes()
            if self._folder in place.parents and named in line
        ]

    def leftovers(self) -> list[str]:
        """What targets made for themselves and did not remove."""
        return [
            str(path)
            for path in self._folder.rglob("barnabas-*")
            if path.name != "barnabas-packages"
        ]


def _processes() -> Iterator[tuple[int, Path, str]]:
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            yield int(folder.name), (folder / "cwd").readlink(), line


def until(what: Callable[[], Any]) -> Any:
    """What it gives as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with standalone(folder) as url:
        yield Cluster(url, folder)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A campaign whose capture is beside it, and nowhere that a worker would look."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "c.yaml").write_text(CAMPAIGN)
    sample = ROOT / "captures" / "samples" / "wrong.pcap"
    (folder / "mine.pcap").write_bytes(sample.read_bytes())
    return folder


def fuzz(folder: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "barnabas",
            "fuzz",
            "run",
            "c.yaml",
            "--json",
            "--shrink",
            "0",
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **LITTLE, "PYTHONPATH": str(ROOT)},
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    """Its exit code, its last event, and what it said to the person."""
    out, err = process.communicate(timeout=PATIENCE)
    lines = out.splitlines()
    return process.returncode, json.loads(lines[-1]) if lines else {}, err


def covered(database: Path) -> object:
    with Findings(database) as findings:
        (row,) = findings.campaigns()
        return findings.coverage(row.id), [one.number for one in findings.rounds(row.id)]


def test_it_comes_to_what_it_comes_to_here_though_an_executor_is_killed(
    cluster: Cluster, mine: Path
) -> None:
    there = fuzz(mine, "--db", "there.fuzz.db", "--spark", "--master", cluster.url)
    until(lambda: cluster.processes(TARGET))
    victim = cluster.processes(EXECUTOR)[0]
    os.kill(victim, signal.SIGKILL)
    code, last, err = ended(there)
    assert code in (0, 1), err
    assert (last["event"], last["done"]) == ("over", ALL), err
    until(lambda: not cluster.processes(TARGET))
    code, last, err = ended(fuzz(mine, "--db", "here.fuzz.db"))
    assert last["done"] == ALL, err
    assert covered(mine / "there.fuzz.db") == covered(mine / "here.fuzz.db")
    assert cluster.leftovers() == []


def test_ctrl_c_ends_the_targets_and_the_same_command_goes_on(cluster: Cluster, mine: Path) -> None:
    command = ("--db", "c.fuzz.db", "--spark", "--master", cluster.url)
    first = fuzz(mine, *command)
    assert first.stdout is not None
    # the first shard is kept, others are under way
    line = next(line for line in first.stdout if json.loads(line)["event"] == "batch")
    at = json.loads(line)["done"]
    assert 0 < at < ALL
    first.send_signal(signal.SIGINT)
    _, last, err = ended(first)
    assert "interrupted: the same command goes on" in err
    assert at <= last["done"] < ALL
    assert "Traceback" not in err
    until(lambda: not cluster.processes(TARGET) and not cluster.processes(EXECUTOR))
    code, last, err = ended(fuzz(mine, *command))
    assert code in (0, 1), err
    assert last["done"] == ALL
    assert 0 < last["ran"] < ALL
