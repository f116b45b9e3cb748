"""An embedded session: where it listens, and from what Python's workers are forked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def places(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyspark

    for _ in batches:
        yield pa.RecordBatch.from_pydict({"place": [pyspark.__file__]})


def test_workers_import_pyspark_as_it_is_installed_not_of_an_archive(spark: SparkSession) -> None:
    import pyspark

    found = spark.range(1).coalesce(1).mapInArrow(places, "place string").collect()
    assert [row["place"] for row in found] == [pyspark.__file__]


def test_an_embedded_session_is_on_loopback_and_in_utc(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.driver.host") == conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
