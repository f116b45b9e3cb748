"""What all analyses keep to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from barnabas.pipeline.analyses.registry import ANALYSES, Analysis
from barnabas.pipeline.rows.columns import ddl
from tests.pipeline.analyses.tables import table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_of_nothing_there_is_nothing_in_the_columns_as_documented(
    analysis: Analysis, spark: SparkSession
) -> None:
    found = analysis.run(table(spark, []))
    said = found.sparkSession.createDataFrame([], ddl(analysis.columns)).schema
    assert [(one.name, one.dataType) for one in found.schema] == [
        (one.name, one.dataType) for one in said
    ]
    assert found.isEmpty()


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_its_purpose_and_its_columns_are_described(analysis: Analysis) -> None:
    assert re.match(r"[A-Z][^\n]*\.$", analysis.run.__doc__ or "", re.M), "a sentence first"
    assert all(column.description for column in analysis.columns)
