"""The rows that recent batches of a followed folder have added, as separate tables.

Delta tables retain the files of each batch. The folder's own Parquet does not, since small batches are
merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from barnabas.pipeline.rows.columns import BODY_JSON, ddl
from barnabas.pipeline.tables.delta import FOLDER, batches, tables_in
from barnabas.pipeline.tables.schemas import columns_of, folders_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class AddedFiles(NamedTuple):
    """The files that batches have added."""

    files: Mapping[str, list[Path]]
    """By table."""
    next: int
    """The number of the next batch."""


def added(out: Path, first: int) -> AddedFiles:
    """Return the files that batches have added, from batch `first` up to the latest one in `exchanges`.

    Raises:
        OSError: A file can't be read, or there is no batch.
        ValueError: A batch is missing.
    """
    delta = out / FOLDER
    last = next((number for number, _ in batches(delta / "exchanges")), -1)
    if last < 0:
        raise OSError(0, "the table has no batches", str(delta / "exchanges"))
    numbers = range(first, last + 1)
    if first > last + 1:
        raise ValueError(f"batch {last + 1} is the next one")
    files = {}
    for table in tables_in(delta):
        files_by_batch = dict(takewhile(lambda batch: batch[0] >= first, batches(delta / table)))
        for number in numbers:
            if number not in files_by_batch:
                raise ValueError(f"batch {number} is not in the Delta table {table}")
        files[table] = [path for number in numbers for path in files_by_batch[number]]
    return AddedFiles(files, last + 1)


def write_added(spark: SparkSession, out: Path, files: Mapping[str, list[Path]], to: Path) -> None:
    """Write tables with the rows of these files of a folder, with bodies as VARIANT. Raises OSError."""
    from pyspark.sql import functions as f

    for table, paths in files.items():
        schema = ddl(columns_of(table))
        reader = spark.read.schema(schema).option("basePath", str(out / FOLDER / table))
        rows = reader.parquet(*map(str, paths)) if paths else spark.createDataFrame([], schema)
        if table == "exchanges":
            rows = rows.withColumn("body", f.parse_json(BODY_JSON.name)).drop(BODY_JSON.name)
        rows.write.partitionBy(*folders_of(table)).parquet(str(to / table))
