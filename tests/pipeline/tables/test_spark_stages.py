"""The stages on Spark give what they give in memory, whatever the number of readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.facts import gather
from barnabas.pipeline.reading.paths import sorted_paths
from barnabas.pipeline.reading.share_outcomes import CaptureSettings
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.tables import spark_stages
from tests.pipeline.generated import generated
from tests.pipeline.stages import in_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("ts_ns", "connection", "ordinal", "api", "latency_ms", "topics", "request_body")


def gist(rows: list[dict[str, Any]]) -> list[Any]:
    return sorted((row["ts_ns"], row["ordinal"], row["api"], row["topics"]) for row in rows)


def test_any_number_of_readers(spark: SparkSession, tmp_path: Path) -> None:
    paths = [generated(tmp_path / kind, kind, 5) for kind in ("ethernet", "pcapng>")]
    right = in_memory(paths, columns=COLUMNS)
    capture = CaptureSettings(sorted_paths(paths), COLUMNS)
    for readers in (1, 5):
        folder = tmp_path / f"by {readers}"
        shares = [Share(number, readers) for number in range(readers)]
        filed = spark_stages.outcome_files(spark, capture, shares, folder)
        assert len(filed.files) == readers
        found = filed.to_table().to_pylist()
        exchanges = [row for row in found if row["kind"] == "exchange"]
        assert gist(exchanges) == gist(right.exchanges)
        assert gather(spark_stages.fact_outcomes(filed)) == right.facts
    assert {column.name for column in EXCHANGES} > set(COLUMNS) - {"request_body"}
