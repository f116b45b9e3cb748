"""Rows that batches of a folder which is followed have added, as tables of their own.

Table formats keep what each batch added; the folder's own Parquet does not, where small batches became one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from barnabas.pipeline.rows.columns import BODY_JSON, ddl
from barnabas.pipeline.tables.schemas import columns_of, folders_of
from barnabas.pipeline.tables.table_formats import FORMATS, tables_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Added(NamedTuple):
    """What batches have added."""

    files: Mapping[str, list[Path]]
    """By table."""
    next: int
    """The number of the batch that comes next."""


def added(out: Path, kind: str, first: int) -> Added:
    """What the batches from this one on have added, up to the last that is in `exchanges`. kind: of FORMATS.

    Raises OSError, also where there is no batch at all, and ValueError if not all of these are there.
    """
    of_table = partial(FORMATS[kind].batches, out / kind)
    last = next((number for number, _ in of_table("exchanges")), -1)
    if last < 0:
        raise OSError(0, "there is no batch in it", str(out / kind / "exchanges"))
    wanted = range(first, last + 1)
    if first > last + 1:
        raise ValueError(f"batch {last + 1} is the next one")
    files = {}
    for table in tables_in(out / kind):
        found = dict(takewhile(lambda one: one[0] >= first, of_table(table)))
        for number in wanted:
            if number not in found:
                raise ValueError(f"batch {number} is not in the {kind} table {table}")
        files[table] = [path for number in wanted for path in found[number]]
    return Added(files, last + 1)


def write_added(
    spark: SparkSession, place: Path, files: Mapping[str, list[Path]], to: Path
) -> None:
    """Make tables of these files, which are below `place`: bodies are a VARIANT again. Raises OSError."""
    from pyspark.sql import functions as f

    for table, paths in files.items():
        schema = ddl(columns_of(table))
        reader = spark.read.schema(schema).option("basePath", str(place / table))
        rows = reader.parquet(*map(str, paths)) if paths else spark.createDataFrame([], schema)
        if table == "exchanges":
            rows = rows.withColumn("body", f.parse_json(BODY_JSON.name)).drop(BODY_JSON.name)
        rows.write.partitionBy(*folders_of(table)).parquet(str(to / table))
