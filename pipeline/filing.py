"""Parquet that tasks write themselves: what is Arrow on both sides need not become the JVM's rows between.

A task writes files of names that no other has, and says which, as its result. Only what was said takes its
place: what an attempt left that failed, or that was made twice, goes with the folder of the run.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]

GROUP: Final = 10_000
"""Rows of a table's row group, at least: each folder that a task writes into keeps so many."""

_SAID: Final = "path string, groups int"


class Filed(NamedTuple):
    """A file that a task has written."""

    path: str
    groups: int
    """How many row groups it has."""


class Part(NamedTuple):
    """Some row groups of a file: the task that reads them keeps one of them at a time."""

    path: str
    begin: int
    end: int

    def batches(self, kind: str, columns: list[str] | None = None) -> Batches:
        """The rows of a kind; columns: None for all."""
        with pq.ParquetFile(self.path) as file:
            for group in range(self.begin, self.end):
                read = None if columns is None else ["kind", *columns]
                found = file.read_row_group(group, columns=read)
                yield from found.filter(ds.field("kind") == kind).to_batches()


class Table(NamedTuple):
    """A table to be made of what travels. To be pickled."""

    name: str
    kind: str
    schema: pa.Schema
    reads: list[str] | None
    """Columns of what travels that its rows are made of; None: all."""
    make: Callable[[Batches], Batches]
    folders: tuple[str, ...] = ()
    """Columns by whose values the files are in folders, which have them instead of the files."""


def tasks(spark: SparkSession, count: int) -> DataFrame:
    """The numbers up to `count`, each in a partition of its own."""
    return spark.range(0, count, 1, max(1, count))


def file_rows(
    found: DataFrame, read: Callable[[Batches], Batches], schema: pa.Schema, folder: Path
) -> list[Filed]:
    """What a function of Arrow batches makes of a DataFrame, as files in a new folder: one of each task, with
    a row group for each batch. Raises OSError."""
    folder.mkdir()
    place = str(folder)

    def write(batches: Batches) -> Batches:
        path = f"{place}/{uuid.uuid4().hex}.parquet"
        groups = 0
        with pq.ParquetWriter(path, schema, compression="lz4") as writer:
            for one in read(batches):
                writer.write_batch(one)
                groups += 1
        yield pa.record_batch({"path": [path], "groups": pa.array([groups], pa.int32())})

    return [Filed(row["path"], row["groups"]) for row in found.mapInArrow(write, _SAID).collect()]


def parts(filed: Iterable[Filed], groups: int) -> list[Part]:
    """Files as parts of so many row groups at most."""
    return [
        Part(one.path, begin, min(begin + groups, one.groups))
        for one in filed
        for begin in range(0, one.groups, groups)
    ]


def write_tables(
    spark: SparkSession, of: Sequence[Part], tables: Sequence[Table], run: Path
) -> None:
    """Tables of what travelled in these parts, as folders of a run's with their names."""
    attempts = run / "_attempts"
    attempts.mkdir(exist_ok=True)
    place, chosen = str(attempts), tuple(tables)

    def write(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                attempt = Path(place) / uuid.uuid4().hex
                paths = [path for table in chosen for path in _write(of[number], table, attempt)]
                yield pa.record_batch({"attempt": [attempt.name] * len(paths), "path": paths})

    for table in tables:
        (run / table.name).mkdir(exist_ok=True)
    for row in tasks(spark, len(of)).mapInArrow(write, "attempt string, path string").collect():
        target = run / row["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        (attempts / row["attempt"] / row["path"]).rename(target)


def _write(part: Part, table: Table, attempt: Path) -> list[str]:
    """Write one table of a part; the files' paths below the attempt's folder."""
    written: list[str] = []
    schema = table.schema
    flavour = None
    if table.folders:
        flavour = ds.partitioning(
            pa.schema([schema.field(one) for one in table.folders]), flavor="hive"
        )
    ds.write_dataset(
        pa.RecordBatchReader.from_batches(
            schema, table.make(part.batches(table.kind, table.reads))
        ),
        attempt / table.name,
        format="parquet",
        partitioning=flavour,
        basename_template=f"part-{attempt.name}-{{i}}.parquet",
        use_threads=False,
        min_rows_per_group=GROUP,
        max_rows_per_group=5 * GROUP,
        file_visitor=lambda file: written.append(str(Path(file.path).relative_to(attempt))),
    )
    return written
