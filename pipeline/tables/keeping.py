"""How the table of an analysis is kept: by Spark's tasks, or by the driver, which is sooner for little."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.pipeline.rows.columns import Column, arrow, ddl
from barnabas.pipeline.tables.parquet import Batches, file_rows
from barnabas.pipeline.tables.partitioned_parquet import ZSTD

if TYPE_CHECKING:
    from pyspark.sql import Column as Order
    from pyspark.sql import DataFrame


class Kept(NamedTuple):
    """What was written."""

    frame: DataFrame
    rows: pa.Table | None = None
    """The same in the order that was asked for, where the driver has it."""


Keep = Callable[["DataFrame", Path, tuple[Column, ...], "Sequence[Order]"], Kept]
"""Writes a table with these columns as Parquet into a folder, in the place of what is there; in this order,
where that costs little. Raises OSError."""


def by_tasks(
    found: DataFrame, folder: Path, columns: tuple[Column, ...], _: Sequence[Order] = ()
) -> Kept:
    """A table of any size."""
    schema = arrow(columns)

    def cast(batches: Batches) -> Batches:
        for one in batches:
            yield one.cast(schema)

    part = _empty(folder)
    filed = file_rows(found.select(*schema.names), cast, schema, part, ZSTD)
    # what an attempt left that failed, and all but one of those without rows
    kept = {one.path for one in filed if one.groups} or {one.path for one in filed[:1]}
    for path in part.iterdir():
        if str(path) not in kept:
            path.unlink()
    if not filed:  # Spark had no task: it knew that there are no rows
        pq.write_table(schema.empty_table(), part / "part-0.parquet", compression=ZSTD)
    _install(part, folder)
    return Kept(found.sparkSession.read.schema(ddl(columns)).parquet(str(folder)))


def by_driver(
    found: DataFrame, folder: Path, columns: tuple[Column, ...], order: Sequence[Order] = ()
) -> Kept:
    """A table that fits into memory: one job, and none for who reads it again."""
    schema = arrow(columns)
    found = found.select(*schema.names)
    table = (found.orderBy(*order) if order else found).toArrow().cast(schema)
    part = _empty(folder)
    part.mkdir()
    pq.write_table(table, part / "part-0.parquet", compression=ZSTD)
    _install(part, folder)
    # one partition: nothing is shuffled
    return Kept(found.sparkSession.createDataFrame(table).coalesce(1), table)


def _empty(folder: Path) -> Path:
    """Where a folder is made that takes its place."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    return part


def _install(part: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
