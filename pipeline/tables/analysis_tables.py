"""Writes the table of an analysis: in Spark's tasks, or in the driver, which is faster for little data."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.pipeline.rows.columns import Column, arrow, ddl
from barnabas.pipeline.tables import partitioned_parquet
from barnabas.pipeline.tables.parquet import Batches, remove_others, write_frame
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, WrittenFile

if TYPE_CHECKING:
    from pyspark.sql import Column as Order
    from pyspark.sql import DataFrame


class StoredTable(NamedTuple):
    """A table that was written."""

    frame: DataFrame
    rows: pa.Table | None = None
    """The rows in the requested order, if the driver has them."""


StoreTable = Callable[["DataFrame", Path, tuple[Column, ...], "Sequence[Order]"], StoredTable]
"""A function that writes a table with these columns as Parquet into a folder, replacing its content; in this
order, where that costs little. Raises OSError."""


def by_tasks(
    frame: DataFrame, folder: Path, columns: tuple[Column, ...], _: Sequence[Order] = ()
) -> StoredTable:
    """Write a table of any size."""
    schema = arrow(columns)
    part = _empty(folder)

    def write(batches: Batches) -> list[WrittenFile]:
        return partitioned_parquet.write((each.cast(schema) for each in batches), schema, (), part)

    files = write_frame(frame.select(*schema.names), write)
    remove_others(part, files)
    if not files:
        pq.write_table(schema.empty_table(), part / "part-0.parquet", compression=ZSTD)
    _install(part, folder)
    return StoredTable(frame.sparkSession.read.schema(ddl(columns)).parquet(str(folder)))


def by_driver(
    frame: DataFrame, folder: Path, columns: tuple[Column, ...], order: Sequence[Order] = ()
) -> StoredTable:
    """Write a table that fits into memory: with one job, and no job for later readers."""
    schema = arrow(columns)
    frame = frame.select(*schema.names)
    table = (frame.orderBy(*order) if order else frame).toArrow().cast(schema)
    part = _empty(folder)
    pq.write_table(table, part / "part-0.parquet", compression=ZSTD)
    _install(part, folder)
    # one partition: nothing is shuffled
    rows = frame.sparkSession.createDataFrame(table, ddl(columns))
    return StoredTable(rows.coalesce(1), table)


def _empty(folder: Path) -> Path:
    """Make a new folder that will replace a folder."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    return part


def _install(part: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
