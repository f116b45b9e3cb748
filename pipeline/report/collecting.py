"""Fetches the report's results from Spark, at most so many rows of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import CLIENT, asked, without_negotiation
from barnabas.pipeline.report.digests import AS_IT_IS, DIGESTS, Digest
from barnabas.pipeline.report.parts import Overview, Result

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from barnabas.pipeline.tables.keeping import Kept

MOST: Final = 30_000
"""Rows of a result."""


def overview(files: Mapping[str, int], exchanges: DataFrame) -> Overview:
    """What was read, in all. files: how many there are, by capture."""
    seen = asked(exchanges)
    row = seen.agg(
        F.min("ts").alias("begins"),
        F.max("ts").alias("ends"),
        F.count("*").alias("exchanges"),
        F.count_distinct(F.struct("capture", "connection")).alias("connections"),
        F.count_distinct(F.expr(CLIENT)).alias("clients"),
        # where no node id is known, by where clients went; else those are the bootstrap's beside
        F.coalesce(
            F.nullif(F.count_distinct("broker"), F.lit(0)), F.count_distinct("server_address")
        ).alias("brokers"),
        F.count_distinct("group").alias("groups"),
        F.count(F.when(F.col("undecodable") != "", 1)).alias("undecodable"),
    ).first()
    assert row is not None  # noqa: S101 - a sum of nothing is a row too
    topics = seen.select(F.explode("topics").alias("topic")).distinct().count()
    errors = without_negotiation(seen).where("error <> ''").count()
    of_all = sum(files.values())
    return Overview(sorted(files), topics=topics, errors=errors, files=of_all, **row.asDict())


def collected(name: str, kept: Kept) -> dict[str, Result]:
    """The digests of a table of this name."""
    return {
        one.name: collect(kept.frame, one)
        if kept.rows is None or one.sql != AS_IT_IS
        else Result(kept.rows.slice(0, MOST).to_pylist(), kept.rows.num_rows, one.shown)
        for one in DIGESTS
        if one.of == name
    }


def in_order(name: str, columns: Sequence[str]) -> list[Column]:
    """The order of a table of this name which the report has as it is; of others none."""
    for one in DIGESTS:
        if one.of == name and one.sql == AS_IT_IS:
            return _order(one, columns)
    return []


def collect(of: DataFrame, digest: Digest) -> Result:
    """As many rows of a digest as the report takes. of: the table that it is made of."""
    table = of.sparkSession.sql(digest.sql, of=of)
    table = table.orderBy(*_order(digest, table.columns))
    rows = table.limit(MOST + 1).toArrow().to_pylist()
    total = of.count() if digest.lists else len(rows) if len(rows) <= MOST else table.count()
    return Result(rows[:MOST], total, digest.shown)


def _order(digest: Digest, columns: Sequence[str]) -> list[Column]:
    """What is equal so far is in an order too, so that the report is the same each time."""
    return [*map(_by, digest.order), *map(F.col, columns)]


def _by(sql: str) -> Column:
    """An expression, with the largest first if it ends in `DESC`; nulls are last then."""
    expression = F.expr(sql.removesuffix(" DESC"))
    return expression.desc() if sql.endswith(" DESC") else expression.asc()
