"""The folder of a killed process is removed by the next session, that of a living one stays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.pipeline.spark.working_folder import PREFIX, working_folder
from tests.places import ROOT

STAY = """
from barnabas.pipeline.spark.working_folder import working_folder
with working_folder() as folder:
    (folder / "blocks").mkdir()
    print(folder, flush=True)
    input()
"""


def test_only_folders_that_no_process_owns_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    other = tmp_path / f"{PREFIX}of-an-earlier-version"
    other.mkdir()
    line = [sys.executable, "-c", STAY]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        with working_folder() as ours:
            assert {*tmp_path.iterdir()} == {other, folder, ours}
        process.kill()
        process.wait()
    assert {*tmp_path.iterdir()} == {other, folder}
    with working_folder() as ours:
        assert {*tmp_path.iterdir()} == {other, ours}
    assert [*tmp_path.iterdir()] == [other]
