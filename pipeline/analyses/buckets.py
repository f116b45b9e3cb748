"""Time buckets: wide enough to have at most a few hundred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import NS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000

WIDTHS_MS: Final = (
    *(10, 20, 50, 100, 200, 500),
    *(number * SECOND for number in (1, 2, 5, 10, 15, 30)),
    *(number * MINUTE for number in (1, 2, 5, 10, 15, 30)),
    *(number * HOUR for number in (1, 2, 4, 6, 12, 24)),
)

MOST: Final = 240
"""The most buckets of a capture's time, unless it is longer than this many of the widest."""


def bucketed(rows: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Return the rows, which have `capture` and `ts_ns`, with a timestamp `bucket`: its beginning.

    All buckets of a capture have the same width, which follows from the capture's time in `exchanges`.
    """
    span = (F.max("ts_ns") - F.min("ts_ns")) / F.lit(float(NS * MOST))
    widths = F.array(*(F.lit(width) for width in WIDTHS_MS))
    fits = F.get(F.filter(widths, lambda width: width >= span), F.lit(0))
    width = F.coalesce(fits, F.lit(WIDTHS_MS[-1])).cast("bigint").alias("width")
    of_captures = exchanges.groupBy("capture").agg(width)
    start = F.expr(f"ts_ns div {NS} - pmod(ts_ns div {NS}, width)")
    return (
        rows.join(F.broadcast(of_captures), "capture")
        .withColumn("bucket", F.timestamp_millis(start))
        .drop("width")
    )
