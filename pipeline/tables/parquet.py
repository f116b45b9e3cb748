"""Parquet that tasks write themselves: what is Arrow on both sides need not become the JVM's rows between.

A task writes files of names that no other has, and says which, as its result. Only what was said takes its
place: what an attempt left that failed, or that was made twice, goes with the folder of the run.
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
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, Written

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]

_SAID: Final = "path string, groups int"


class Filed(NamedTuple):
    """A file that a task has written."""

    path: str
    groups: int
    """How many row groups it has."""


class Groups(NamedTuple):
    """Some row groups of a file."""

    path: str
    begin: int
    end: int


class Part(NamedTuple):
    """What one task reads: it keeps one row group at a time."""

    groups: tuple[Groups, ...]

    def batches(self, kind: str | None, columns: list[str] | None = None) -> Batches:
        """The rows of a kind, or all; columns: None for all."""
        read = None if columns is None else ["kind", *columns]
        for path, begin, end in self.groups:
            with pq.ParquetFile(path) as file:
                for group in range(begin, end):
                    least, most = ("", "") if kind is None else _kinds(file, group)
                    if kind is None or least == kind == most:
                        yield from file.read_row_group(group, columns=read).to_batches()
                    elif least <= kind <= most:
                        found = file.read_row_group(group, columns=read)
                        yield from found.filter(ds.field("kind") == kind).to_batches()


def _kinds(file: pq.ParquetFile, group: int) -> tuple[str, str]:
    """The least and the greatest of the kinds in a row group."""
    column = file.schema_arrow.get_field_index("kind")
    said = file.metadata.row_group(group).column(column).statistics
    return said.min, said.max


class Table(NamedTuple):
    """A table to be made of what travels. To be pickled."""

    name: str
    kind: str | None
    """Of what travels; None: all of it."""
    schema: pa.Schema
    reads: list[str] | None
    """Columns of what travels that its rows are made of; None: all."""
    make: Callable[[Batches], Batches]
    folders: tuple[str, ...] = ()
    """Columns by whose values the files are in folders, which have them instead of the files."""
    order: tuple[str, ...] = ()
    """Columns by which the rows of a file are sorted."""


def tasks(spark: SparkSession, count: int) -> DataFrame:
    """The numbers up to `count`, each in a partition of its own."""
    return spark.range(0, count, 1, max(1, count))


def made(
    spark: SparkSession | None, count: int, make: Callable[[Batches], Batches], columns: str
) -> Iterator[dict[str, Any]]:
    """Rows that are made of the numbers up to `count`, each in a task; without Spark one by one, here."""
    if spark is None:
        found = make(pa.record_batch({"id": [number]}) for number in range(count))
        return (row for one in found for row in one.to_pylist())
    return (row.asDict() for row in tasks(spark, count).mapInArrow(make, columns).collect())


def file_rows(
    found: DataFrame | Batches,
    read: Callable[[Batches], Batches],
    schema: pa.Schema,
    folder: Path,
    compression: str = "lz4",
) -> list[Filed]:
    """What a function of Arrow batches makes of a DataFrame, as files in a new folder: one of each task, with
    a row group for each batch; or of batches, here. Raises OSError."""
    folder.mkdir()
    place = str(folder)

    def write(batches: Batches) -> Batches:
        path = f"{place}/{uuid.uuid4().hex}.parquet"
        groups = 0
        with pq.ParquetWriter(path, schema, compression=compression) as writer:
            for one in read(batches):
                writer.write_batch(one)
                groups += 1
        yield pa.record_batch({"path": [path], "groups": pa.array([groups], pa.int32())})

    if isinstance(found, Iterator):
        return [Filed(**row) for one in write(found) for row in one.to_pylist()]
    return [Filed(row["path"], row["groups"]) for row in found.mapInArrow(write, _SAID).collect()]


def parts(filed: Iterable[Filed], groups: int) -> list[Part]:
    """Files as parts of so many row groups at most: one has what is left of several files."""
    found: list[Part] = []
    mine: list[Groups] = []
    room = groups
    for one in filed:
        begin = 0
        while begin < one.groups:
            end = min(begin + room, one.groups)
            mine.append(Groups(one.path, begin, end))
            room -= end - begin
            begin = end
            if not room:
                found.append(Part(tuple(mine)))
                mine, room = [], groups
    return [*found, Part(tuple(mine))] if mine else found


def write_rows(path: Path, rows: pa.RecordBatch) -> None:
    """Write a few rows as a file. Raises OSError."""
    pq.write_table(pa.Table.from_batches([rows]), path, compression=ZSTD)


def write_tables(
    spark: SparkSession | None, of: Sequence[Part], tables: Sequence[Table], run: Path
) -> list[Written]:
    """Tables of what travelled in these parts, as folders of a run's with their names: their files.
    Without Spark they are made here. Raises OSError."""
    attempts = run / "_attempts"
    place, chosen = str(attempts), tuple(tables)

    def write(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                attempt = Path(place) / uuid.uuid4().hex
                found = [one for table in chosen for one in _write(of[number], table, attempt)]
                paths = [str(one.path.relative_to(attempt)) for one in found]
                nulls = pa.array([one.nulls for one in found], pa.int64())
                names = pa.array([attempt.name] * len(found), pa.string())
                columns = [names, pa.array(paths, pa.string()), nulls]
                yield pa.RecordBatch.from_arrays(columns, ["attempt", "path", "nulls"])

    for table in tables:
        (run / table.name).mkdir()
    written = []
    said = "attempt string, path string, nulls bigint"
    for row in made(spark, len(of), write, said):
        target = run / row["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        (attempts / row["attempt"] / row["path"]).rename(target)
        written.append(Written(target, row["nulls"]))
    return written


def _write(part: Part, table: Table, attempt: Path) -> list[Written]:
    rows = table.make(part.batches(table.kind, table.reads))
    place, name = attempt / table.name, f"part-{attempt.name}-{{}}.parquet"
    return partitioned_parquet.write(rows, table.schema, table.folders, place, name, table.order)
