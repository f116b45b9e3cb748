"""Bodies that can't be VARIANT are null, and a row of errors: with a limit of Spark's, never in silence."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.columns import ERRORS, EXCHANGES, arrow
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
