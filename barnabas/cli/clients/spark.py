"""`barnabas clients run --spark`: rows of the table as shards on Spark.

Each worker starts its own brokers. A shard is a client's workload with all its cells, since they are compared
with the one without faults. Its cells are returned with their evidence when it ends; an interrupted shard is
run again.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from barnabas.cli.clients.names import named_clients, named_workloads
from barnabas.cli.console.options import SparkOptions
from barnabas.cli.console.spark_session import spark_session
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.cell import CONTROL, Cell, cell_name
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.pipeline.spark.errors import reason
from barnabas.pipeline.spark.session import QUICK
from barnabas.proxy.scenario.file import loads
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

SCHEMA: Final = "cell string, evidence binary"
"""The columns of a shard's result: a cell as JSON, and a zip of its folder."""


class Shard(NamedTuple):
    """The plain values that a worker needs for a row.

    client: The value of `--client` or `--command`. scenarios: Names and texts.
    """

    client: str
    is_program: bool
    workload: str
    scenarios: tuple[tuple[str, str], ...]
    broker: str
    trials: int
    cuts: int
    jobs: int
    plain: bool

    @property
    def name(self) -> str:
        """Return the client's name in the names of its cells."""
        return self.client.partition("=")[0] if self.is_program else self.client

    @property
    def line(self) -> str:
        """Return the command line of a user's program; empty: the client is a library."""
        return self.client.partition("=")[2] if self.is_program else ""


def run_on_spark(options: SparkOptions, shards: Sequence[Shard], folder: Folder) -> Iterator[Cell]:
    """Run the shards, and yield the cells of each when it ends. Raises Trouble.

    Shards whose cells the folder already has are not run.
    """
    missing = []
    for shard in shards:
        known_cells = _known(shard, folder)
        yield from known_cells
        if not known_cells:
            missing.append(shard)
    if not missing:
        return
    with spark_session(options, QUICK) as spark:
        yield from cells(spark, missing, folder)


def cells(spark: SparkSession, shards: Sequence[Shard], folder: Folder) -> Iterator[Cell]:
    """Run a Spark job for each shard, one per core at a time; yield their cells. Raises Trouble."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    def run(shard: Shard) -> list[tuple[str, bytes]]:
        rows = spark.range(0, 1, 1, 1).mapInArrow(work_of(shard), SCHEMA).collect()
        return [(row["cell"], bytes(row["evidence"])) for row in rows]

    pool = ThreadPoolExecutor(thread_name_prefix="shard")
    try:
        for future in as_completed([pool.submit(run, shard) for shard in shards]):
            for text, evidence in future.result():
                cell = Cell.model_validate_json(text)
                zipfile.ZipFile(io.BytesIO(evidence)).extractall(folder.path / "cells" / cell.name)
                yield folder.add(cell)
    except (PySparkException, Py4JError) as problem:
        raise Trouble(f"Spark failed: {reason(problem)}", COULD_NOT_RUN) from None
    finally:
        spark.interruptAll()
        pool.shutdown(wait=False, cancel_futures=True)


def work_of(shard: Shard) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow` that runs a shard and yields rows of SCHEMA, whatever its input."""

    def work(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with tempfile.TemporaryDirectory(prefix="barnabas-clients-") as folder:
            for cell in run_shard(shard, Path(folder)):
                evidence = _packed(Path(folder) / "cells" / cell.name)
                yield pa.RecordBatch.from_pydict(
                    {"cell": [cell.model_dump_json()], "evidence": [evidence]}
                )

    return work


def run_shard(shard: Shard, path: Path) -> Iterator[Cell]:
    """Run a row in this process, with its own brokers."""
    selection = ((), (shard.client,)) if shard.is_program else ((shard.client,), ())
    scenarios = [(name, loads(text, name)) for name, text in shard.scenarios]
    plan = TableRequest(
        named_clients(*selection),
        named_workloads((shard.workload,)),
        scenarios,
        shard.trials,
        shard.cuts,
        {shard.name: shard.line} if shard.is_program else {},
        drawn=not shard.plain,
    )
    with closing(Folder(path)) as folder, Brokers(shard.broker) as brokers:
        yield from Matrix(plan, brokers, folder, shard.jobs).run()


def _known(shard: Shard, folder: Folder) -> list[Cell]:
    """Return the cells of a shard if the folder has all of them; else an empty list."""
    scenarios = [(CONTROL, ""), *shard.scenarios]
    known_cells = [
        folder.known(cell_name(shard.name, shard.workload, name), shard.broker, text, shard.line)
        for name, text in scenarios
    ]
    whole = all(known_cells) and not shard.cuts  # only a run determines the exchanges to cut
    return [cell for cell in known_cells if cell is not None] if whole else []


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return packed.getvalue()
