"""`barnabas analyze --follow` as a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.cli.analyze.analyze import Wanted
from barnabas.cli.analyze.follow import as_before
from barnabas.trouble import COULD_NOT_RUN, Trouble
from tests.pipeline.spark_processes import LITTLE
from tests.places import ROOT, SAMPLES


@pytest.mark.needs_spark
def test_a_folder_of_which_nothing_could_be_read_is_an_error(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    shutil.copy(SAMPLES / "faults.pcapng", captures)  # no segment of a proxy
    (captures / "other.pcapng").write_bytes(b"not a capture")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "barnabas", "analyze", "--follow", str(captures), "--once"),
            *("--out", str(tmp_path / "out")),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **LITTLE, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (COULD_NOT_RUN, "")
    assert done.stderr.splitlines() == [
        f"left out, not a capture: {captures / 'other.pcapng'}",
        "batch 0 written",
        f"barnabas: nothing in {captures} could be read: its files are no segments of a proxy; "
        "analyze them without --follow",
    ]


@pytest.mark.parametrize(
    ("before", "wanted", "said"),
    [
        ((), "delta", "no --format"),
        (("delta",), None, "--format delta"),
        (("iceberg",), "delta", "--format iceberg"),
    ],
)
def test_batches_go_on_in_the_format_of_those_before(
    tmp_path: Path, before: tuple[str, ...], wanted: str | None, said: str
) -> None:
    for kind in before:
        (tmp_path / kind).mkdir()
    with pytest.raises(Trouble, match=f"has batches with {said}: continue with that"):
        as_before(Wanted([], tmp_path, table_format=wanted), tmp_path)
    as_before(Wanted([], tmp_path, table_format=before[0] if before else None), tmp_path)
