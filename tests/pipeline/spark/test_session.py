"""The pipeline on a real standalone Spark cluster, and through Spark Connect, from a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow.dataset as ds
import pyspark
import pytest

from tests.pipeline.spark_processes import LITTLE, connect_server, standalone
from tests.pipeline.test_equal_to_decode import differences, held, said
from tests.places import ROOT, SAMPLES

CAPTURE = SAMPLES / "wrong.pcap"
MORE = (SAMPLES / "faults.pcapng", SAMPLES / "kip-848.pcapng")

WORK = """
import sys
from pathlib import Path
from barnabas.pipeline.spark.session import session
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.tables import TableOptions, read, write
from pyspark.sql.functions import udf
from tests.pipeline.everything import FEW, everything

def places(_):
    import importlib
    names = ("specs", "captures", "pipeline", "peers", "fuzz", "proxy")
    return [importlib.import_module(f"barnabas.{name}").__file__ for name in names]

url, capture, out, *samples = sys.argv[1], *map(Path, sys.argv[2:])
ours = "barnabas.zip" if url.startswith("sc:") else "barnabas-packages"
settings = dict(FEW)
if not url.startswith("sc:"):
    settings |= {"spark.executor.memory": "600m", "spark.driver.memory": "1g"}
with session(url, settings) as spark:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    where = spark.range(0, 2, 1, 2).select(udf(places, "array<string>")("id").alias("one"))
    for row in where.collect():
        assert all(ours in place for place in row["one"]), row
    write(spark, [capture], out)
    everything(read(spark, out, "exchanges")).write.parquet(str(out / "everything"))
    for path in samples:
        write(spark, [path], out / "samples" / path.name, TableOptions(bodies=Bodies(json=True)))
"""
"""What is done elsewhere. Our packages come from what was sent there, whatever is installed."""

pytestmark = pytest.mark.needs_spark


def tables(out: Path) -> dict[str, list[str]]:
    """The rows of tables, in an order of their own; bodies are in `everything`, as text."""
    found = {}
    for name in ("exchanges", "errors", "connections", "everything"):
        table = ds.dataset(out / name, format="parquet", partitioning="hive")
        columns = sorted(column for column in table.schema.names if column != "body")
        found[name] = sorted(map(str, table.to_table(columns=columns).to_pylist()))
    return found


def work(url: str, out: Path, *samples: Path) -> dict[str, list[str]]:
    """The same in another process, elsewhere; and tables of the samples, with bodies as JSON."""
    given = {**os.environ, **LITTLE, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", WORK, url, *map(str, (CAPTURE, out, *samples))],
        capture_output=True,
        text=True,
        env=given,
        cwd=out.parent,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", ""), "and Spark keeps silent"
    return tables(out)


class Clustered(NamedTuple):
    """What a standalone cluster made."""

    tables: dict[str, list[str]]
    samples: Path


@pytest.fixture(scope="module")
def clustered(tmp_path_factory: pytest.TempPathFactory) -> Clustered:
    folder = tmp_path_factory.mktemp("standalone")
    with standalone(folder) as url:
        return Clustered(work(url, folder / "out", *MORE), folder / "out" / "samples")


def test_tables_made_by_a_standalone_cluster_hold_what_decode_prints(clustered: Clustered) -> None:
    assert len(clustered.tables["exchanges"]) == 39
    whats = {
        row.partition("'what': '")[2].partition("'")[0] for row in clustered.tables["everything"]
    }
    assert whats >= {"findings", "latency", "versions", "body"}
    wrong = {
        path.name: differences(held(clustered.samples / path.name), said(path)) for path in MORE
    }
    assert {name: some for name, some in wrong.items() if some} == {}


@pytest.mark.deep(
    "a master that people use to try things out; a standalone cluster is the same but for its start"
)
def test_workers_that_the_driver_starts_make_the_same(clustered: Clustered, tmp_path: Path) -> None:
    before = sorted(Path(pyspark.__file__).parent.iterdir())
    assert work("local-cluster[2,1,1024]", tmp_path / "out") == clustered.tables
    assert sorted(Path(pyspark.__file__).parent.iterdir()) == before, "nothing is put beside Spark"


def test_spark_connect_makes_the_same(clustered: Clustered, tmp_path: Path) -> None:
    with connect_server(tmp_path) as url:
        assert work(url, tmp_path / "out") == clustered.tables


def test_a_session_leaves_the_handler_of_interrupts_as_it_was(tmp_path: Path) -> None:
    """In a process of its own: there is one JVM in each."""
    code = (
        "import os, signal\n"
        "from barnabas.pipeline.spark.session import session\n"
        "before, environment = signal.getsignal(signal.SIGINT), dict(os.environ)\n"
        "for _ in range(2):\n"
        "    with session('local[1]', {'spark.driver.memory': '1g'}) as spark:\n"
        "        process = spark.sparkContext._gateway.proc\n"
        "        assert process.poll() is None\n"
        "    assert process.poll() is not None\n"
        "assert signal.getsignal(signal.SIGINT) is before\n"
        "assert dict(os.environ) == environment\n"
    )
    given = {**os.environ, **LITTLE, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=given
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == [], "nothing of it stays"
