"""`barnabas clients run --spark`: rows of the table as shards on Spark, each worker with brokers of its own.

A shard is a client's workload with all its cells, since they are compared with the one without faults. Its
cells come back with their evidence when it is over; a shard that was interrupted is run again.
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

from barnabas.cli.clients.naming import named_clients, named_workloads
from barnabas.cli.console.options import SparkOptions
from barnabas.experiments.clients.brokers import Brokers
from barnabas.experiments.clients.cell import CONTROL, Cell, cell_name
from barnabas.experiments.clients.folder import Folder
from barnabas.experiments.clients.matrix import Matrix, TableRequest
from barnabas.pipeline.spark.errors import UnavailableError, reason
from barnabas.pipeline.spark.masters import parse_master
from barnabas.pipeline.spark.session import QUICK, session
from barnabas.proxy.scenario.file import loads
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

SCHEMA: Final = "cell string, evidence binary"
"""Of the table that a shard gives: a cell as JSON, and a zip of what is in its folder."""


class Shard(NamedTuple):
    """What a worker needs for a row, as plain values. client: as --client, or as --command has it.
    scenarios: names and texts."""

    client: str
    own: bool
    workload: str
    scenarios: tuple[tuple[str, str], ...]
    broker: str
    trials: int
    cuts: int
    jobs: int

    @property
    def name(self) -> str:
        """By which its cells name the client."""
        return self.client.partition("=")[0] if self.own else self.client

    @property
    def line(self) -> str:
        """How a program of the user's is started; empty: it is none."""
        return self.client.partition("=")[2] if self.own else ""


def run_on_spark(options: SparkOptions, shards: Sequence[Shard], folder: Folder) -> Iterator[Cell]:
    """The cells of the shards, when each is over; of those that the folder has whole, at once. Raises
    Trouble."""
    missing = []
    for shard in shards:
        known = _known(shard, folder)
        yield from known
        if not known:
            missing.append(shard)
    if not missing:
        return
    # a Spark Connect server was set up by others, and takes none of these
    ours = {} if parse_master(options.master).kind == "connect" else QUICK
    try:
        with session(options.master, {**ours, **dict(options.conf)}) as spark:
            yield from cells(spark, missing, folder)
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def cells(spark: SparkSession, shards: Sequence[Shard], folder: Folder) -> Iterator[Cell]:
    """A job for each shard, as many at once as there are cores. Raises Trouble."""
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
                folder.add(cell)
                yield cell
    except (PySparkException, Py4JError) as problem:
        raise Trouble(f"Spark failed: {reason(problem)}", COULD_NOT_RUN) from None
    finally:
        spark.interruptAll()
        pool.shutdown(wait=False, cancel_futures=True)


def work_of(shard: Shard) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: whatever comes in, the shard's rows of SCHEMA."""

    def work(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        with tempfile.TemporaryDirectory(prefix="barnabas-clients-") as place:
            for cell in run_shard(shard, Path(place)):
                evidence = _packed(Path(place) / "cells" / cell.name)
                yield pa.RecordBatch.from_pydict(
                    {"cell": [cell.model_dump_json()], "evidence": [evidence]}
                )

    return work


def run_shard(shard: Shard, place: Path) -> Iterator[Cell]:
    """Run a row where this is called, with brokers of its own."""
    given = ((), (shard.client,)) if shard.own else ((shard.client,), ())
    scenarios = [(name, loads(text, name)) for name, text in shard.scenarios]
    asked = TableRequest(
        named_clients(*given),
        named_workloads((shard.workload,)),
        scenarios,
        shard.trials,
        shard.cuts,
        {shard.name: shard.line} if shard.own else {},
    )
    with closing(Folder(place)) as folder, Brokers(shard.broker) as brokers:
        yield from Matrix(asked, brokers, folder, shard.jobs).run()


def _known(shard: Shard, folder: Folder) -> list[Cell]:
    """The cells of a shard if the folder has all of them."""
    wanted = [(CONTROL, ""), *shard.scenarios]
    found = [
        folder.known(cell_name(shard.name, shard.workload, name), shard.broker, text, shard.line)
        for name, text in wanted
    ]
    whole = all(found) and not shard.cuts  # which exchanges are cut, only a run says
    return [cell for cell in found if cell is not None] if whole else []


def _packed(folder: Path) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return packed.getvalue()
