"""The streaming job writes each row once, whatever kills it, and goes on where it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from captures.conversations import Conversations
from captures.reader import CaptureReader
from tests.captures.test_rotation import ROOT, SAMPLES, rotated

SOURCE = SAMPLES / "faults.pcapng"
TABLES = ("exchanges", "errors", "connections", "notes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("run") / "captures"
    rotated(SOURCE, made, {20, 45, 70, 95, 120})
    return made


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.pipeline.follower", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, cwd=ROOT, check=False
    )


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    """What is in a table, but for the batch and the order."""
    found = ds.dataset(out / table, format="parquet", partitioning="hive").to_table().to_pylist()
    return sorted(({**each, "batch": 0} for each in found), key=repr)


def test_killed_at_any_step_it_writes_what_it_had_written_otherwise(
    folder: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    once = start(str(folder), str(whole), "6")
    assert once.returncode == 0, once.stderr
    for where, number in (("second table", "0"), ("state", "1"), ("over", "1")):
        died = start(str(folder), str(killed), "2", where, number)
        assert died.returncode == -9, died.stderr
    last = start(str(folder), str(killed), "2")
    assert last.returncode == 0, last.stderr
    assert {path.name for path in (killed / "errors").iterdir()} == {
        f"batch={number}" for number in range(3)
    }
    for table in TABLES:
        assert rows(killed, table) == rows(whole, table)
    found = rows(whole, "exchanges")
    ended = [
        (each.connection, each.correlation_id)
        for each in Conversations().exchanges(CaptureReader(SOURCE))
        if not each.note.endswith("the capture ends")
    ]
    assert sorted((each["connection"], each["correlation_id"]) for each in found) == sorted(ended)
    assert all(each["body"] is not None for each in found)
    assert not list((killed / "_runs").iterdir())
