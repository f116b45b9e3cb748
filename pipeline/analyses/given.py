"""What analyses are given of the table `exchanges`: of few rows, what is asked for is kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.rows.columns import BODY_JSON

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    from barnabas.pipeline.analyses.analysis import Analysis

BODIES: Final = ("body", BODY_JSON.name)
"""Columns that are nearly all of the table's bytes."""

WIDE: Final = ("partitions", "seen", *BODIES)
"""Columns with structures, which cost each time that a row is looked at."""


class Given(NamedTuple):
    """The table, for those that ask for WIDE columns and for the others."""

    whole: DataFrame
    narrow: DataFrame

    def to(self, analysis: Analysis) -> DataFrame:
        """What an analysis is given."""
        return self.whole if analysis.wide else self.narrow


def in_files(exchanges: DataFrame) -> Given:
    """The table as it is."""
    return Given(exchanges, exchanges.drop(*WIDE))


def in_memory(exchanges: DataFrame, analyses: Iterable[Analysis]) -> Given:
    """Its rows in one task, read once for all; bodies only of APIs whose bodies an analysis reads."""
    asked = F.col("api").isin(sorted({api for one in analyses for api in one.bodies}))
    others = exchanges.where(~asked).withColumn("body", F.lit(None).cast("variant"))
    whole = others.unionByName(exchanges.where(asked)).drop(BODY_JSON.name)
    return Given(_kept(whole), _kept(exchanges.drop(*WIDE)))


def _kept(rows: DataFrame) -> DataFrame:
    # as rows: reading columns again compiles a class for each choice of them
    return rows.coalesce(1).localCheckpoint(eager=False)
