"""Storms of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.pipeline.analyses.retries import APART_MS, LEAST, retries
from tests.pipeline.analyses.made import greeting, metadata
from tests.pipeline.analyses.tables import rows, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_many_close_together_are_a_storm(spark: SparkSession) -> None:
    storm = [metadata(n * 100, error=3, took=20, client="one") for n in range(LEAST)]
    later = APART_MS + 100 * LEAST
    again = [metadata(later + n * 100, error=3, client="one") for n in range(LEAST + 1)]
    few = [metadata(n * 100, error=3, client="two") for n in range(LEAST - 1)]
    slow = [metadata(n * 2 * APART_MS, error=3, client="three") for n in range(LEAST)]
    fine = [metadata(n, client="four") for n in range(LEAST)]
    other = [metadata(n * 100 + 50, error=5, client="one") for n in range(LEAST - 1)]
    found = retries(table(spark, rows([*storm, *again, *few, *slow, *fine, *other]))).collect()
    names = ("client_id", "api", "error", "attempts", "rate", "shortest_pause_ms")
    told = {tuple(row[name] for name in names) for row in found}
    assert told == {
        ("one", "Metadata", "UNKNOWN_TOPIC_OR_PARTITION", LEAST, 10.0, 80.0),
        ("one", "Metadata", "UNKNOWN_TOPIC_OR_PARTITION", LEAST + 1, 10.0, 99.0),
    }


def test_to_agree_on_a_version_on_each_connection_is_none(spark: SparkSession) -> None:
    """A client that is refused again and again is one."""
    healthy = [
        one
        for number in range(2 * LEAST)
        for one in (
            greeting(number, 4, refused=True, connection=number, host="10.0.0.1"),
            greeting(number + 0.5, 3, connection=number, host="10.0.0.1"),
        )
    ]
    refused = [
        greeting(
            100 * number, 4, refused=True, connection=50 + number, host="10.0.0.2", client="no"
        )
        for number in range(LEAST)
    ]
    found = retries(table(spark, rows([*healthy, *refused]))).collect()
    assert {(row["client_id"], row["api"], row["attempts"]) for row in found} == {
        ("no", "ApiVersions", LEAST)
    }
