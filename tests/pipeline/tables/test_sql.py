"""Tables that Spark knew before there were all of these columns get those that are new."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from barnabas.pipeline.analyses.registry import ANALYSES
from barnabas.pipeline.rows.columns import EXCHANGES, arrow
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.folders import ON_REQUEST
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.pipeline.tables.sql import statements
from barnabas.pipeline.tables.tables import TableOptions, read, write
from tests.places import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_table_of_before_gets_new_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Files that lack them have null there, beside those that have them; bodies are a VARIANT in all."""
    names = "transactions.pcapng", "faults.pcapng"
    write(None, [SAMPLES / names[0]], tmp_path)
    analysis = arrow(ANALYSES[0].columns).empty_table()
    (tmp_path / "analyses" / "latency").mkdir(parents=True)
    pq.write_table(analysis, tmp_path / "analyses" / "latency" / "part.parquet")
    spark.sql("CREATE DATABASE before")
    spark.catalog.setCurrentDatabase("before")
    try:
        made = list(statements(tmp_path))
        first = next(one for one in made if "TABLE IF NOT EXISTS exchanges" in one)
        spark.sql(first.replace(", `body_json` string", ""))
        assert "body_json" not in spark.table("exchanges").columns
        write(
            spark,
            [SAMPLES / names[1]],
            tmp_path,
            TableOptions(bodies=Bodies(json=True), also=ON_REQUEST),
        )
        for _ in range(2):
            for statement in statements(tmp_path):
                spark.sql(statement)
        for table in TABLES:
            known, right = spark.table(table), read(spark, tmp_path, table)
            assert sorted(known.columns) == sorted(right.columns)
            assert known.count() == right.count()
        assert spark.table("analysis_latency").columns == analysis.column_names
        columns = {*(one.name for one in EXCHANGES), "body", "body_json"}
        assert set(spark.table("exchanges").columns) == columns
        found = spark.sql(
            "SELECT capture, count(body_json) = count(*) AS texts, count(body_json) AS some, "
            "count_if(to_json(body) <=> body_json) AS same, count(variant_get(body, '$.request')) "
            "AS requests, count(*) AS rows FROM exchanges GROUP BY capture"
        )
        rows = {row["capture"]: row for row in found.collect()}
        assert rows[names[0]]["some"] == 0
        assert rows[names[0]]["requests"] > 0
        assert rows[names[1]]["texts"]
        assert rows[names[1]]["same"] == rows[names[1]]["rows"] > 0
    finally:
        spark.catalog.setCurrentDatabase("default")
        spark.sql("DROP DATABASE before CASCADE")
