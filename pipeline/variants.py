"""Bodies as VARIANT in Parquet, and what is said of those that are too large to be one.

Spark makes a VARIANT of at most 128 MiB (16 before 4.1) as it is laid out, which the text does not tell, and
reads no JSON with a string of over 20,000,000 characters (Jackson's StreamReadConstraints): 15 MB of records.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipeline.columns import ERRORS, EXCHANGES, ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FRUGAL: Final = {
    "parquet.block.size": str(16 << 20),
    "parquet.page.size.row.check.min": "1",
    "parquet.page.size.row.check.max": "50",
}
"""How Parquet is written by tasks that keep little. Of a row group each task that reads or writes keeps one.
How many bytes it has got is looked at after as many rows as would fill it, were they like those before, and
after 10,000: behind small exchanges that many large ones were kept, which no heap had room for."""

REASON: Final = "larger than what Spark makes a VARIANT of: its body is null in exchanges"


def write_exchanges(rows: DataFrame, folders: Sequence[str], place: Path) -> int:
    """Write rows of EXCHANGES whose `body` is JSON text, as VARIANT, into folders by these columns.

    Returns how many bodies could not become one, and are null there.
    """
    from pyspark.sql import Observation
    from pyspark.sql.functions import col, count_if, try_parse_json

    seen = Observation("bodies")
    made = rows.withColumn("body", try_parse_json(col("body")))
    made = made.observe(seen, count_if(col("body").isNull()).alias("lost"))
    made.write.options(**FRUGAL).partitionBy(*folders).parquet(str(place))
    return int(seen.get["lost"])


def lost_bodies(spark: SparkSession, place: Path, capture: str | None = None) -> DataFrame:
    """Rows of ERRORS for what `write_exchanges` has written without a body. capture: if it is not in the
    folders' names."""
    from pyspark.sql.functions import coalesce, col, lit

    found = spark.read.schema(f"{ddl(EXCHANGES)}, `body` variant").parquet(str(place))
    known = {
        "capture": col("capture") if capture is None else lit(capture),
        "bytes": col("request_size") + coalesce("response_size", lit(0)),
        "connection": col("connection"),
        "ts_ns": col("ts_ns"),
        "packet": col("request_packet"),
        "kind": lit("too large"),
        "reason": lit(REASON),
    }
    columns = [
        known.get(column.name, lit(None)).cast(column.type).alias(column.name) for column in ERRORS
    ]
    return found.where(col("body").isNull()).select(*columns)
