"""`barnabas analyze` as a process of its own: on a machine without Java, and interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.cli.console.output import Output
from tests.pipeline.spark_processes import LITTLE
from tests.places import ROOT
from tests.running import running

SAMPLES = ROOT / "captures" / "samples"
CAPTURE = SAMPLES / "rebalance.pcap.gz"

pytestmark = pytest.mark.needs_spark


class Ran(NamedTuple):
    """What came of a run."""

    out: Path
    document: dict[str, Any]


def command(out: Path, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "barnabas", "analyze", str(CAPTURE.relative_to(ROOT))),
        *("--out", str(out), "--json", "--conf", "spark.sql.shuffle.partitions=2", *options),
    ]


def environment(folder: Path) -> dict[str, str]:
    """Of a machine without Java: all programs but that one."""
    programs = folder / "programs"
    programs.mkdir()
    for path in Path("/usr/bin").iterdir():
        if not path.name.startswith("java"):
            (programs / path.name).symlink_to(path)
    kept = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return {**kept, **LITTLE, "PATH": str(programs), "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}


def ran(out: Path, given: dict[str, str], *options: str) -> Ran:
    done = subprocess.run(
        command(out, *options), capture_output=True, text=True, cwd=ROOT, env=given
    )
    assert done.stderr == "", "Spark has nothing to say to who uses us"
    assert done.returncode == 0
    return Ran(out, json.loads(done.stdout))


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("embedded")
    found = ran(folder / "out", environment(folder))
    assert sorted(path.name for path in folder.iterdir()) == ["out", "programs"], "all else is gone"
    return found


def test_without_java_at_hand_it_makes_tables_and_a_report(embedded: Ran) -> None:
    output = Output()
    reader = CaptureReader(CAPTURE)
    exchanges = [one for one in Conversations(inferred=True).exchanges(reader) if output.look(one)]
    document = embedded.document
    assert document["exchanges"] == len(exchanges)
    assert document["connections"] == len({one.connection for one in exchanges})
    assert document["errors"] == sum(bool(one.error) for one in exchanges)
    assert document["unread"] == []
    assert document["captures"] == [CAPTURE.name]
    conversations = Conversations(strays=True)
    found = run(conversations.exchanges(CaptureReader(CAPTURE)), CHECKS)
    assert document["rows"]["findings"] == len(list(found))
    page = (embedded.out / "report.html").read_text("utf-8")
    assert document["report"] == str(embedded.out / "report.html")
    for section in ("latency", "errors", "rebalances", "versions"):
        assert f'id="{section}"' in page


@pytest.mark.parametrize(
    ("started", "ending"), [("JVM", signal.SIGTERM), ("analyses", signal.SIGINT)]
)
def test_an_interrupt_ends_spark_and_says_how_to_go_on(
    tmp_path: Path, started: str, ending: signal.Signals
) -> None:
    out = tmp_path / "out"
    given = {**os.environ, **LITTLE, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command(out), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=given
    ) as process:
        # the JVM has begun to start; or Spark is there, and asks the tables
        while not ((out / "analyses").exists() or (started == "JVM" and _java(tmp_path))):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(ending)
        said, told = process.communicate(timeout=300)
    assert process.returncode == 130
    assert said == ""
    assert told.endswith(
        f"interrupted: {out} is not complete; run the same command to start again\n"
    )
    assert running(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def _java(folder: Path) -> list[str]:
    return [line for line in running(folder) if "/bin/java" in line]
