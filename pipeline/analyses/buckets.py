"""Time buckets: wide enough to have at most a few hundred."""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from barnabas.pipeline.analyses.expressions import NS

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000

WIDTHS_MS: Final = (
    *(10, 20, 50, 100, 200, 500),
    *(number * SECOND for number in (1, 2, 5, 10, 15, 30)),
    *(number * MINUTE for number in (1, 2, 5, 10, 15, 30)),
    *(number * HOUR for number in (1, 2, 4, 6, 12, 24)),
)

MOST: Final = 240
"""The most buckets of a capture's time, unless it is longer than this many of the widest."""


BUCKET: Final = f"timestamp_millis(ts_ns div {NS} - pmod(ts_ns div {NS}, width))"
"""SQL: the beginning of the bucket of a time, in buckets of a width."""


def width(most: int) -> str:
    """Return SQL: the width of the buckets of a capture's exchanges, of which there are at most this many."""
    return f"""coalesce(get(filter(
    array({", ".join(map(str, WIDTHS_MS))}),
    width -> width >= (max(ts_ns) - min(ts_ns)) / {NS * most}D), 0), {WIDTHS_MS[-1]})"""


def bucketed(exchanges: DataFrame) -> DataFrame:
    """Return all exchanges with a timestamp `bucket`: its beginning.

    All buckets of a capture have the same width, which follows from the capture's time.
    """
    widths = exchanges.groupBy("capture").agg(F.expr(width(MOST)).alias("width"))
    timed = exchanges.join(F.broadcast(widths), "capture")
    return timed.withColumn("bucket", F.expr(BUCKET)).drop("width")
