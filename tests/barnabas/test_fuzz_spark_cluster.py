"""Campaigns on a real standalone Spark cluster, as a user runs them: executors share nothing with us."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.cli.fuzz.campaigns import read_campaign
from barnabas.fuzz.corpus.corpora import Basis
from barnabas.fuzz.database.findings import Findings
from barnabas.fuzz.engine.assembly import prepare
from barnabas.fuzz.engine.stats import Stats
from tests.pipeline.spark_processes import LITTLE, standalone
from tests.places import ROOT
from tests.waiting import until

PATIENCE = 400.0
ALL = 240

CAMPAIGN = """\
version: 1
target: librdkafka
seed: 5
apis: [Metadata]
mutators: [limits, uuids, emptiness, tag_unknown]
sessions: [none]
captures: [mine.pcap]
budget: {cases: 240}
round: 240
"""
"""One round: what the next would be made of depends on what a busy machine makes of this one. librdkafka's
mock survives these mutators: each of its deaths would cost the test a restart."""

TARGET = "barnabas.fuzz.targets.embedded_process"
EXECUTOR = "CoarseGrainedExecutorBackend"

pytestmark = [pytest.mark.needs_spark, pytest.mark.timeout(900)]


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


def _processes() -> Iterator[tuple[int, Path, str]]:
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            yield int(folder.name), (folder / "cwd").readlink(), line


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
    """What cases it says were run."""
    with Findings(database, write=False) as findings:
        (row,) = findings.campaigns()
        return findings.coverage(row.id)


def to_be_covered(folder: Path, database: Path) -> object:
    """What its cases are, by the same target's basis, without running any."""
    with Findings(database, write=False) as findings:
        (row,) = findings.campaigns()
    said = row.settings["basis"]
    versions = tuple((int(key), tuple(all_)) for key, all_ in said["versions"].items())
    campaign = read_campaign(folder / "c.yaml").campaign
    maker = prepare(campaign, Basis(said["role"], versions), folder).maker({})
    tally = Stats()
    for number in range(ALL):
        tally.run(maker.case(number))
    return tally.coverage


def test_an_executor_that_is_killed_costs_no_case(cluster: Cluster, mine: Path) -> None:
    running = fuzz(mine, "--db", "c.fuzz.db", "--spark", "--master", cluster.url)
    until(lambda: cluster.processes(TARGET), seconds=PATIENCE)
    os.kill(cluster.processes(EXECUTOR)[0], signal.SIGKILL)
    # no worker looks for the capture, also not the one that takes the place of this one
    (mine / "mine.pcap").rename(mine / "elsewhere.pcap")
    code, last, err = ended(running)
    assert code in (0, 1), err
    assert (last["event"], last["done"]) == ("over", ALL), err
    (mine / "elsewhere.pcap").rename(mine / "mine.pcap")
    assert covered(mine / "c.fuzz.db") == to_be_covered(mine, mine / "c.fuzz.db")
    until(
        lambda: not cluster.processes(TARGET) and not cluster.processes(EXECUTOR), seconds=PATIENCE
    )
