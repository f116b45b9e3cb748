"""Parquet files that tasks write themselves, so that Arrow data need not become rows of the JVM.

A task writes files with unique names into the folder of its run, and returns these names as its result. Files
that no task has returned are of failed or repeated attempts, and are removed before the run is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.pipeline.tables import partitioned_parquet
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, WrittenFile
from barnabas.stop_signals import cancellable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

Batches = Iterator[pa.RecordBatch]

Part = Sequence[ds.ParquetFileFragment]
"""Row groups of files: the input of one task."""

_WRITTEN: Final = pa.schema([("path", pa.string()), ("nulls", pa.bool_())])
"""The columns in which a task returns its files."""


class Table(NamedTuple):
    """A table to write. It can be pickled."""

    name: str
    schema: pa.Schema
    rows: Callable[[Any], Batches]
    """Yields the rows of the input of a task."""
    folders: tuple[str, ...] = ()
    """Columns by whose values files are put into folders; the files lack them."""
    order: tuple[str, ...] = ()
    """Columns by which the rows of a file are sorted."""


def parts(rows: ds.FileSystemDataset, groups: int) -> list[Part]:
    """Divide the row groups of files into parts of at most `groups`; a part may be of several files."""
    all_groups = [(file, group.id) for file in rows.get_fragments() for group in file.row_groups]
    return [
        tuple(
            file.subset(row_group_ids=[number for _, number in numbers])
            for file, numbers in groupby(all_groups[begin : begin + groups], itemgetter(0))
        )
        for begin in range(0, len(all_groups), groups)
    ]


def rows_of_kind(part: Part, kind: str, columns: Sequence[str] | None = None) -> Batches:
    """Yield the rows of a kind with these columns (None: all), retaining one row group at a time."""
    # row groups of other kinds are not read, by their statistics
    return all_rows(part, ds.field("kind") == kind, columns and ["kind", *columns])


def all_rows(
    part: Part, chosen: ds.Expression | None = None, columns: Sequence[str] | None = None
) -> Batches:
    """Yield all rows, or the chosen ones, with these columns (None: all)."""
    for groups in part:
        batches = groups.to_batches(
            columns=columns, filter=chosen, batch_readahead=0, use_threads=False
        )
        yield from filter(len, batches)


def write_in_tasks(
    spark: SparkSession | None,
    inputs: Sequence[T],
    write: Callable[[T], Iterable[WrittenFile]],
) -> list[WrittenFile]:
    """Call a function with each input, in a task of its own, and return the files that it yields.

    Without Spark, this process calls it.
    """
    if spark is None:
        return [file for each in inputs for file in write(each)]

    def write_numbered(batches: Batches) -> Iterator[WrittenFile]:
        for batch in batches:
            for number in batch["id"].to_pylist():
                yield from write(inputs[number])

    count = len(inputs)
    return write_frame(spark.range(0, count, 1, max(1, count)), write_numbered)


def write_frame(
    frame: DataFrame, write: Callable[[Batches], Iterable[WrittenFile]]
) -> list[WrittenFile]:
    """Call a function with the rows of each partition, and return the files that it yields."""

    def written(batches: Batches) -> Batches:
        rows = [{"path": str(file.path), "nulls": file.nulls} for file in write(batches)]
        yield pa.RecordBatch.from_pylist(rows, _WRITTEN)

    rows = frame.mapInArrow(written, "path string, nulls boolean").collect()
    return [WrittenFile(Path(row["path"]), row["nulls"]) for row in rows]


def write_tables(
    spark: SparkSession | None,
    inputs: Sequence[Any],
    tables: Sequence[Table],
    run: Path,
    go_on: Callable[[], None] | None = None,
) -> list[WrittenFile]:
    """Write tables into a run's folders, and return their files. Raises OSError.

    Args:
        spark: None: this process writes them.
        inputs: The inputs of tasks.
        tables: The tables.
        run: The folder of the run.
        go_on: Called before each batch of rows, by this process only: an exception from it ends the run.
    """

    def write(task_input: Any) -> Iterator[WrittenFile]:
        for table in tables:
            rows = cancellable(table.rows(task_input), go_on)
            yield from partitioned_parquet.write(
                rows, table.schema, table.folders, run / table.name, table.order
            )

    for table in tables:
        (run / table.name).mkdir()
    files = write_in_tasks(spark, inputs, write)
    for table in tables:
        remove_others(run / table.name, files)
    return files


def remove_others(folder: Path, files: Iterable[WrittenFile]) -> None:
    """Remove all Parquet files of a folder but these. Raises OSError."""
    for path in {*folder.rglob("*.parquet")}.difference(file.path for file in files):
        path.unlink()


def write_rows(path: Path, rows: pa.RecordBatch) -> None:
    """Write a few rows as a file. Raises OSError."""
    pq.write_table(pa.Table.from_batches([rows]), path, compression=ZSTD)
