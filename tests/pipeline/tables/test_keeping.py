"""The table of an analysis is there for who reads its files, also where it has no rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.rows.columns import ddl
from barnabas.pipeline.tables.keeping import Keep, by_driver, by_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("keep", [by_tasks, by_driver])
@pytest.mark.parametrize("tasks", [0, 2])
def test_there_is_a_file_without_rows(
    spark: SparkSession, tmp_path: Path, keep: Keep, tasks: int
) -> None:
    columns = ANALYSES[0].columns
    none = spark.createDataFrame(spark.sparkContext.emptyRDD(), ddl(columns))
    found = none.repartition(tasks) if tasks else none
    assert keep(found, tmp_path / "x", columns, ()).frame.count() == 0
    (file,) = (tmp_path / "x").iterdir()
    assert pq.read_table(file).column_names == [column.name for column in columns]
    assert pq.read_metadata(file).num_rows == 0
