"""What all analyses keep to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql.types import StructType

from pipeline.analyses.analysis import Analysis
from pipeline.analyses.contents import ANALYSES
from pipeline.columns import ddl
from tests.pipeline.analyses.tables import captured, table
from tests.samples.recipes import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def samples(spark: SparkSession) -> DataFrame:
    found = [row for name, _ in SAMPLES for row in captured(name)]
    return table(spark, found).cache()


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_columns_are_as_documented(analysis: Analysis, samples: DataFrame) -> None:
    found = analysis.run(samples).schema
    said = StructType.fromDDL(ddl(analysis.columns))
    assert [(one.name, one.dataType) for one in found] == [(one.name, one.dataType) for one in said]


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_an_empty_table_gives_an_empty_one(analysis: Analysis, samples: DataFrame) -> None:
    assert analysis.run(samples.limit(0)).isEmpty()


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_the_samples_give_something(analysis: Analysis, samples: DataFrame) -> None:
    assert not analysis.run(samples).isEmpty()
