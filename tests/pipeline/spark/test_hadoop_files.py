"""Files of a file system of Hadoop's with a scheme of its own: viewfs, which shows folders as others."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from barnabas.pipeline.spark.hadoop_files import HadoopFiles
from tests.pipeline.spark_processes import LITTLE
from tests.places import ROOT, SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def url(spark: SparkSession, tmp_path: Path) -> str:
    """Where a folder of this machine is seen."""
    name = uuid.uuid4().hex
    context: Any = spark.sparkContext
    context._jsc.hadoopConfiguration().set(_mounted(name), tmp_path.as_uri())
    return f"viewfs://{name}/data"


def _mounted(name: str) -> str:
    return f"fs.viewfs.mounttable.{name}.link./data"


def test_files_are_found_by_pattern_and_folder_and_copied(
    spark: SparkSession, url: str, tmp_path: Path
) -> None:
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    for name in ("b.pcap", "a.pcap", "c.txt"):
        (tmp_path / "in" / name).write_text(name)
    files = HadoopFiles(spark)
    assert files.matching(f"{url}/in") == [
        f"{url}/in/{name}" for name in ("a.pcap", "b.pcap", "c.txt")
    ]
    assert files.matching(f"{url}/in/*.pcap") == [f"{url}/in/a.pcap", f"{url}/in/b.pcap"]
    assert files.matching(f"{url}/none") == []
    files.fetch(f"{url}/in/a.pcap", tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "a.pcap"
    assert not list(tmp_path.glob(".copy*")), "no checksum beside it"


def test_a_folder_takes_its_name_when_it_is_whole(
    spark: SparkSession, url: str, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    (made / "exchanges" / "capture=a%2Fb").mkdir(parents=True)
    (made / "exchanges" / "capture=a%2Fb" / "part.parquet").write_text("rows")
    (made / "report.html").write_text("page")
    (made / "_lock").write_text("")
    files = HadoopFiles(spark)
    assert not files.exists(f"{url}/out")
    files.put(made, f"{url}/out")
    assert files.exists(f"{url}/out")
    there = [path for path in (tmp_path / "out").rglob("[!.]*") if path.is_file()]
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in there) == [
        "exchanges/capture=a%2Fb/part.parquet",
        "report.html",
    ]
    assert not list(tmp_path.glob("_*"))


def test_a_copy_that_fails_leaves_nothing(spark: SparkSession, url: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        HadoopFiles(spark).put(tmp_path / "nothing", f"{url}/out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scheme", ["nowhere", "s3a"])
def test_a_scheme_without_a_file_system_is_told_in_a_line(spark: SparkSession, scheme: str) -> None:
    with pytest.raises(OSError, match="Spark has no file system") as raised:
        HadoopFiles(spark).matching(f"{scheme}://bucket/run.pcapng")
    assert raised.value.filename == f"{scheme}://bucket/run.pcapng"
    assert raised.value.strerror == (
        f"Spark has no file system for {scheme}: give it the jars by --conf "
        "spark.jars.packages=, and what they need by --conf spark.hadoop."
    )


@pytest.mark.needs_spark
def test_captures_are_read_from_there_and_tables_written_there(tmp_path: Path) -> None:
    (tmp_path / "captures").mkdir()
    shutil.copy(SAMPLES / "rebalance.pcap.gz", tmp_path / "captures")
    (tmp_path / "captures" / "notes.txt").write_text("no capture")

    def analyzed(captures: str) -> subprocess.CompletedProcess[str]:
        conf = f"spark.hadoop.{_mounted('lake')}={tmp_path.as_uri()}"
        command = [
            sys.executable,
            "-m",
            "barnabas",
            "analyze",
            captures,
            "--json",
            "--format",
            "delta",
        ]
        return subprocess.run(
            [*command, "--out", "viewfs://lake/data/out/", "--master", "local[2]", "--conf", conf],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, **LITTLE, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        )

    (tmp_path / "more").mkdir()
    shutil.copy(SAMPLES / "faults.pcapng", tmp_path / "more" / "rebalance.pcap.gz")
    done = analyzed("viewfs://lake/data/[cm]*")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["captures"] == ["rebalance.pcap.gz"]
    (quality,) = document["quality"]
    assert quality["files"] == 2, "of one name, in two folders"
    assert document["report"] == "viewfs://lake/data/out/report.html"
    out = tmp_path / "out"
    assert "<h1>rebalance.pcap.gz (2 files)</h1>" in (out / "report.html").read_text()
    assert (out / "report.html").exists()
    assert len(pq.read_table(out / "exchanges")) == document["exchanges"] > 0
    delta = DeltaTable(out / "delta" / "exchanges").to_pyarrow_dataset()
    assert delta.count_rows() == document["exchanges"]
    assert "LOCATION 'viewfs://lake/data/out/exchanges'" in (out / "tables.sql").read_text()
    left = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("."))
    assert left == ["captures", "more", "out"], "all else is gone"
    again = analyzed("viewfs://lake/data/captures")
    assert again.returncode == 2
    assert again.stderr == (
        "barnabas: --out viewfs://lake/data/out/ is there already: choose a new folder\n"
    )
