"""`barnabas analyze` on Sail, as a user has it: a process of its own, on a machine without Java."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.pipeline.analyses.registry import ANALYSES
from tests.barnabas.cli.analyze.test_analyze_spark import environment
from tests.captures.traffic import write_pcap
from tests.places import ROOT, SAMPLES


@pytest.mark.slow("starts Sail")
def test_tables_analyses_and_report_without_java(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [
        *(sys.executable, "-m", "barnabas", "analyze", str(SAMPLES / "rebalance.pcap.gz")),
        *("--engine", "sail", "--tables", "packets,frames", "--out", str(out), "--json"),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment(tmp_path), check=True
    )
    assert done.stderr == ""
    summary = json.loads(done.stdout)
    assert (summary["exchanges"], summary["connections"], summary["findings"]) == (84, 17, [])
    assert {path.name for path in (out / "analyses").iterdir()} == {one.name for one in ANALYSES}
    assert list((out / "packets").rglob("*.parquet"))
    assert (out / "report.html").stat().st_size > 1_000_000


@pytest.mark.slow("starts Sail")
def test_a_capture_without_exchanges_has_a_report(tmp_path: Path) -> None:
    capture, out = write_pcap(tmp_path / "f.pcap", []), tmp_path / "out"
    command = [sys.executable, "-m", "barnabas", "analyze", str(capture), "--engine", "sail"]
    done = subprocess.run(
        [*command, "--out", str(out)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(tmp_path),
        check=True,
    )
    assert done.stdout.startswith("0 exchanges on 0 connections")
    assert {path.name for path in (out / "analyses").iterdir()} == {one.name for one in ANALYSES}
    assert (out / "report.html").exists()
