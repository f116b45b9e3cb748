"""The input of analyses: the table `exchanges`, cached in memory if it has few rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.errors import UnsupportedOperationException
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.rows.columns import BODY_JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from barnabas.pipeline.analyses.registry import Analysis

BODIES: Final = ("body", BODY_JSON.name)
"""Columns that have most of the table's bytes."""

WIDE: Final = ("partitions", "seen", *BODIES)
"""Columns with structures, which are expensive for each row that is read."""


class AnalysisInputs(NamedTuple):
    """The table with and without WIDE columns."""

    whole: DataFrame
    narrow: DataFrame

    def to(self, analysis: Analysis) -> DataFrame:
        """Return the input of an analysis."""
        return self.whole if analysis.wide else self.narrow


def in_files(exchanges: DataFrame) -> AnalysisInputs:
    """Return the table without caching."""
    return AnalysisInputs(exchanges, exchanges.drop(*WIDE))


def in_memory(exchanges: DataFrame, analyses: Iterable[Analysis]) -> AnalysisInputs:
    """Return the table's rows, cached by one task; bodies only of APIs that an analysis needs."""
    needed = F.col("api").isin(sorted({api for analysis in analyses for api in analysis.bodies}))
    others = exchanges.where(~needed).withColumn("body", F.lit(None).cast("variant"))
    whole = others.unionByName(exchanges.where(needed)).drop(BODY_JSON.name)
    return AnalysisInputs(_cached(whole), _cached(exchanges.drop(*WIDE)))


def _cached(rows: DataFrame) -> DataFrame:
    rows = rows.coalesce(1)
    try:
        # cached as rows: reading columns compiles a class for each choice of columns
        return rows.localCheckpoint(eager=False)
    except UnsupportedOperationException:  # Sail
        return rows.cache()
