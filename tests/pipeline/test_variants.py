"""Bodies that can't be VARIANT are null, and a row of errors: with a limit of Spark's, never in silence."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.columns import ERRORS, EXCHANGES, arrow, ddl
from pipeline.variants import REASON, lost_bodies, write_exchanges

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_body_that_is_too_large_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    texts = ['{"request":{"a":1}}', '{"request":"' + "A" * 20_000_001 + '"}']
    now = datetime(2026, 1, 2, tzinfo=UTC)
    rows: list[dict[str, Any]] = [
        {
            "ts": now, "ts_ns": number, "day": date(2026, 1, 2), "capture": "c", "connection": number,
            "api": "Fetch", "request_size": 10, "response_size": None if number else 7,
            "request_packet": number, "body": text,
        }
        for number, text in enumerate(texts)
    ]  # fmt: skip
    schema = pa.schema([*arrow(EXCHANGES), ("body", pa.string())])
    given = spark.createDataFrame(pa.Table.from_pylist(rows, schema=schema))
    assert write_exchanges(given, ("capture", "day", "api"), tmp_path / "exchanges") == 1
    (error,) = lost_bodies(spark, tmp_path / "exchanges").collect()
    assert error.asDict() == {
        **dict.fromkeys(column.name for column in ERRORS),
        "capture": "c",
        "connection": 1,
        "bytes": 10,
        "ts_ns": 1,
        "packet": 1,
        "kind": "too large",
        "reason": REASON,
    }
    (named,) = lost_bodies(spark, tmp_path / "exchanges", "another").collect()
    assert named["capture"] == "another"


def test_large_bodies_behind_small_ones_are_not_gathered(
    spark: SparkSession, tmp_path: Path
) -> None:
    """28 MB are two row groups. Parquet's own settings make one: its next look at the bytes is due only
    after as many rows as would be 16 MB of the small ones before."""
    body = (
        "if(id < 200, '{}', concat('{\"a\":\"', array_join(transform(sequence(1, 1500), "
        "n -> sha2(concat(id, ' ', n), 512)), ''), '\"}'))"
    )
    columns = [f"cast(null as {kind}) as `{name}`" for name, kind in _types(spark)]
    rows = spark.range(0, 350, 1, 1).selectExpr(*columns, f"{body} as body")
    assert write_exchanges(rows, ("day", "api"), tmp_path / "exchanges") == 0
    (file,) = (tmp_path / "exchanges").rglob("*.parquet")
    found = pq.read_metadata(file)
    sizes = [found.row_group(number).total_byte_size for number in range(found.num_row_groups)]
    assert sum(sizes) > 25 << 20
    assert max(sizes) < 22 << 20


def _types(spark: SparkSession) -> list[tuple[str, str]]:
    return spark.createDataFrame([], ddl(EXCHANGES)).dtypes
