"""Parquet files that tasks write themselves, so that Arrow data need not become rows of the JVM.

A task writes files with unique names, and returns these names as its result. Only returned files are
installed: files of failed or repeated attempts are removed with the run's folder.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

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
        read = None if columns is None else ["kind", *columns]
        for path, begin, end in self.groups:
            with pq.ParquetFile(path) as file:
                for group in range(begin, end):
                    least, most = ("", "") if kind is None else _kinds(file, group)
                    if kind is None or least == kind == most:
                        yield from file.read_row_group(group, columns=read).to_batches()
                    elif least <= kind <= most:
                        row_group = file.read_row_group(group, columns=read)
                        yield from row_group.filter(ds.field("kind") == kind).to_batches()


def _kinds(file: pq.ParquetFile, group: int) -> tuple[str, str]:
    """Return the least and the greatest kind in a row group."""
    column = file.schema_arrow.get_field_index("kind")
    statistics = file.metadata.row_group(group).column(column).statistics
    return statistics.min, statistics.max


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
    attempts = run / "_attempts"
    attempts_path, chosen = str(attempts), tuple(tables)

    def write(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                attempt = Path(attempts_path) / uuid.uuid4().hex
                files = [file for table in chosen for file in _write(of[number], table, attempt)]
                paths = [str(file.path.relative_to(attempt)) for file in files]
                nulls = pa.array([file.nulls for file in files], pa.int64())
                names = pa.array([attempt.name] * len(files), pa.string())
                columns = [names, pa.array(paths, pa.string()), nulls]
                yield pa.RecordBatch.from_arrays(columns, ["attempt", "path", "nulls"])

    for table in tables:
        (run / table.name).mkdir()
    written = []
    result_columns = "attempt string, path string, nulls bigint"
    for row in rows_of_tasks(spark, len(of), write, result_columns):
        target = run / row["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        (attempts / row["attempt"] / row["path"]).rename(target)
        written.append(WrittenFile(target, row["nulls"]))
    return written


def _write(part: Part, table: Table, attempt: Path) -> list[WrittenFile]:
    rows = table.make(part.batches(table.kind, table.reads))
    target, name = attempt / table.name, f"part-{attempt.name}-{{}}.parquet"
    return partitioned_parquet.write(rows, table.schema, table.folders, target, name, table.order)
