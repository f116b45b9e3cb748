"""Long messages of Spark's in a line that says what to do."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from barnabas.pipeline.spark.errors import UnavailableError, check_space, reason

FULL = """An error occurred while calling o4307.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task serialization failed
java.io.IOException: No space left on device
\tat java.base/sun.nio.ch.UnixFileDispatcherImpl.write0(Native Method)"""


THERE = "no space left in there, where Spark works: free some, or name another folder by TMPDIR"
HERE = "no space left in here: free some, or name another folder by --out"


@pytest.mark.parametrize(
    ("free_there", "free_here", "said"), [(0, 9, THERE), (9, 0, HERE), (0, 0, THERE)]
)
def test_of_a_full_disk_the_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_there: int, free_here: int, said: str
) -> None:
    free = {Path("there"): free_there, Path("here"): free_here}
    monkeypatch.chdir(tmp_path)
    Path("here").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", "there")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=free[path]))
    assert reason(RuntimeError(FULL), Path("here")) == said


def test_where_there_is_no_space_spark_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    check_space()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(UnavailableError, match=f"no space left in {tmp_path}, where Spark works"):
        check_space()
