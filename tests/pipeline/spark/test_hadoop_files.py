"""Files of a file system of Hadoop's with a scheme of its own: viewfs, which shows folders as others."""

from __future__ import annotations

import json
import shutil
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from barnabas.cli.analyze.hadoop_paths import analyze_elsewhere
from barnabas.cli.analyze.options import AnalyzeOptions, TableFormat
from barnabas.pipeline.spark.hadoop_files import HadoopFiles
from barnabas.trouble import Trouble
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def url(spark: SparkSession, tmp_path: Path) -> str:
    """Where a folder of this machine is seen."""
    name = uuid.uuid4().hex
    context: Any = spark.sparkContext
    mounted = f"fs.viewfs.mounttable.{name}.link./data"
    context._jsc.hadoopConfiguration().set(mounted, tmp_path.as_uri())
    return f"viewfs://{name}/data"


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


@pytest.mark.usefixtures("spark_of_commands")
def test_captures_are_read_from_there_and_tables_written_there(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for folder, name in ("captures", "rebalance.pcap.gz"), ("more", "faults.pcapng"):
        (tmp_path / folder).mkdir()
        shutil.copy(SAMPLES / name, tmp_path / folder / "rebalance.pcap.gz")
    (tmp_path / "captures" / "notes.txt").write_text("no capture")
    wanted = AnalyzeOptions(
        captures=[f"{url}/[cm]*"], out=f"{url}/out/", as_json=True, form=TableFormat.DELTA
    )
    assert analyze_elsewhere(wanted) == 0
    said = capsys.readouterr()
    assert said.err == ""
    document = json.loads(said.out)
    assert document["captures"] == ["rebalance.pcap.gz"]
    (quality,) = document["quality"]
    assert quality["files"] == 2, "of one name, in two folders"
    assert document["report"] == f"{url}/out/report.html"
    out = tmp_path / "out"
    assert "<h1>rebalance.pcap.gz and 1 more file</h1>" in (out / "report.html").read_text()
    assert len(pq.read_table(out / "exchanges")) == document["exchanges"] > 0
    delta = DeltaTable(out / "delta" / "exchanges").to_pyarrow_dataset()
    assert delta.count_rows() == document["exchanges"]
    assert f"LOCATION '{url}/out/exchanges'" in (out / "tables.sql").read_text()
    left = sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("."))
    assert left == ["captures", "more", "out"], "all else is gone"
    with pytest.raises(Trouble, match=f"--out {url}/out/ exists: choose a new folder"):
        analyze_elsewhere(replace(wanted, captures=[f"{url}/captures"]))
