"""An embedded session: where it listens, how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from barnabas.pipeline.spark.progress import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_an_embedded_session_is_on_loopback_and_in_utc(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_tasks_are_told_of_while_they_run(spark: SparkSession, tmp_path: Path) -> None:
    heard = tmp_path / "heard"

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import time

        while not heard.exists():
            time.sleep(0.01)
        yield from batches

    told = []

    def tell(done: int, known: int) -> None:
        told.append((done, known))
        if known == 3:
            heard.touch()

    with watched(spark, tell):
        assert spark.range(0, 3, 1, 3).mapInArrow(wait, "id bigint").count() == 3
    assert (0, 3) in told
