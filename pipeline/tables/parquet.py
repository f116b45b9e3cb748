"""Parquet files that tasks write themselves, so that Arrow data need not become rows of the JVM.

A task writes files with unique names into the folder of its run, and returns these names as its result. Files
that no task has returned are of failed or repeated attempts, and are removed before the run is installed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from barnabas.pipeline.tables import partitioned_parquet
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, WrittenFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]

_SAID: Final = "path string, groups int"


class TaskFile(NamedTuple):
    """A file that a task has written."""

    path: str
    groups: int
    """The number of its row groups."""


class Groups(NamedTuple):
    """Consecutive row groups of a file."""

    path: str
    begin: int
    end: int


class Part(NamedTuple):
    """The input of one task, which retains one row group at a time."""

    groups: tuple[Groups, ...]

    def batches(self, kind: str | None, columns: list[str] | None = None) -> Batches:
        """Yield the rows of a kind, or all rows, with these columns (None: all)."""
        rows = None if kind is None else ds.field("kind") == kind
        for path, begin, end in self.groups:
            fragment = ds.ParquetFileFormat().make_fragment(
                path, LocalFileSystem(), row_groups=range(begin, end)
            )
            # row groups of other kinds are not read, by their statistics
            batches = fragment.to_batches(
                columns=None if columns is None else ["kind", *columns],
                filter=rows,
                batch_readahead=0,
                use_threads=False,
            )
            yield from filter(len, batches)


class Table(NamedTuple):
    """A table to make from outcomes. It can be pickled."""

    name: str
    kind: str | None
    """The kind of outcomes; None: all kinds."""
    schema: pa.Schema
    reads: list[str] | None
    """Columns of outcomes that its rows are made of; None: all."""
    make: Callable[[Batches], Batches]
    folders: tuple[str, ...] = ()
    """Columns by whose values files are put into folders; the files lack them."""
    order: tuple[str, ...] = ()
    """Columns by which the rows of a file are sorted."""


def tasks(spark: SparkSession | None, count: int) -> DataFrame | Batches:
    """Return the numbers up to `count`, each in a partition of its own; without Spark, as batches."""
    if spark is None:
        return (pa.record_batch({"id": [number]}) for number in range(count))
    return spark.range(0, count, 1, max(1, count))


def numbers(batches: Batches) -> Iterator[int]:
    """Yield the numbers in the batches of `tasks`."""
    for batch in batches:
        yield from batch["id"].to_pylist()


def rows_of_tasks(
    spark: SparkSession | None, count: int, make: Callable[[Batches], Batches], columns: str
) -> Iterator[dict[str, Any]]:
    """Yield rows made of the numbers up to `count`, each in a task; without Spark, in this process."""
    source = tasks(spark, count)
    if isinstance(source, Iterator):
        return (row for batch in make(source) for row in batch.to_pylist())
    return (row.asDict() for row in source.mapInArrow(make, columns).collect())


def file_rows(
    source: DataFrame | Batches,
    read: Callable[[Batches], Batches],
    schema: pa.Schema,
    folder: Path,
    compression: str = "lz4",
) -> list[TaskFile]:
    """Write the rows that a function makes of a DataFrame, as files in a new folder. Raises OSError.

    Each task writes one file, with a row group for each batch. Batches instead of a DataFrame are written in
    this process.
    """
    folder.mkdir()
    target = str(folder)

    def write(batches: Batches) -> Batches:
        path = f"{target}/{uuid.uuid4().hex}.parquet"
        groups = 0
        with pq.ParquetWriter(path, schema, compression=compression) as writer:
            for batch in read(batches):
                writer.write_batch(batch)
                groups += 1
        yield pa.record_batch({"path": [path], "groups": pa.array([groups], pa.int32())})

    if isinstance(source, Iterator):
        return [TaskFile(**row) for result in write(source) for row in result.to_pylist()]
    return [
        TaskFile(row["path"], row["groups"]) for row in source.mapInArrow(write, _SAID).collect()
    ]


def parts(filed: Iterable[TaskFile], groups: int) -> list[Part]:
    """Return files as parts of at most `groups` row groups; a part may have rest of several files."""
    all_parts: list[Part] = []
    groups_of_part: list[Groups] = []
    room = groups
    for task_file in filed:
        begin = 0
        while begin < task_file.groups:
            end = min(begin + room, task_file.groups)
            groups_of_part.append(Groups(task_file.path, begin, end))
            room -= end - begin
            begin = end
            if not room:
                all_parts.append(Part(tuple(groups_of_part)))
                groups_of_part, room = [], groups
    return [*all_parts, Part(tuple(groups_of_part))] if groups_of_part else all_parts


def write_rows(path: Path, rows: pa.RecordBatch) -> None:
    """Write a few rows as a file. Raises OSError."""
    pq.write_table(pa.Table.from_batches([rows]), path, compression=ZSTD)


def write_tables(
    spark: SparkSession | None, of: Sequence[Part], tables: Sequence[Table], run: Path
) -> list[WrittenFile]:
    """Write tables from these parts into a run's folders, and return their files. Raises OSError.

    Without Spark they are made in this process.
    """
    target, chosen = str(run), tuple(tables)

    def write(batches: Batches) -> Batches:
        for number in numbers(batches):
            for table in chosen:
                rows = table.make(of[number].batches(table.kind, table.reads))
                folder = Path(target, table.name)
                files = partitioned_parquet.write(
                    rows, table.schema, table.folders, folder, table.order
                )
                paths = pa.array([str(file.path) for file in files], pa.string())
                nulls = pa.array([file.nulls for file in files], pa.bool_())
                yield pa.RecordBatch.from_arrays([paths, nulls], ["path", "nulls"])

    for table in tables:
        (run / table.name).mkdir()
    written = [
        WrittenFile(Path(row["path"]), row["nulls"])
        for row in rows_of_tasks(spark, len(of), write, "path string, nulls boolean")
    ]
    for table in tables:
        remove_others(run / table.name, [file.path for file in written])
    return written


def remove_others(folder: Path, files: Iterable[Path]) -> None:
    """Remove all Parquet files of a folder but these. Raises OSError."""
    for path in {*folder.rglob("*.parquet")}.difference(files):
        path.unlink()
