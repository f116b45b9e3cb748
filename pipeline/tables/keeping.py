"""How the table of an analysis is kept: by Spark's tasks, or by the driver, which is sooner for little."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from barnabas.pipeline.rows.columns import Column, arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Keep = Callable[["DataFrame", Path, tuple[Column, ...]], "DataFrame"]
"""Writes a table with these columns as Parquet into a folder, in the place of what is there, and gives what
was written. Raises OSError."""


def by_tasks(found: DataFrame, folder: Path, _: tuple[Column, ...]) -> DataFrame:
    """A table of any size."""
    # what says that all is there, and sums of it, are no Parquet to others who read the folder
    marks = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
    found.write.mode("overwrite").option(marks, "false").parquet(str(folder))
    for sums in folder.glob(".*.crc"):
        sums.unlink()
    return found.sparkSession.read.parquet(str(folder))


def by_driver(found: DataFrame, folder: Path, columns: tuple[Column, ...]) -> DataFrame:
    """A table that fits into memory: one job, and none for who reads it again."""
    schema = arrow(columns)
    table = found.select(*schema.names).toArrow().cast(schema)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    pq.write_table(table, part / "part-0.parquet")
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return found.sparkSession.createDataFrame(table)
