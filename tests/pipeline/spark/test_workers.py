"""What is asked of workers before anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from barnabas.pipeline.spark import workers
from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import parse_master
from barnabas.pipeline.spark.workers import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


MASTER = parse_master("spark://cluster:7077")


def test_what_one_of_them_lacks_is_said(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(number: Any) -> list[str]:
        return ["cramjam", "crc32c"] if number == 1 else ["crc32c"]

    monkeypatch.setattr(workers, "missing", lacking)
    with pytest.raises(UnavailableError) as raised:
        require(spark, MASTER, 2)
    assert str(raised.value) == (
        "the workers of spark://cluster:7077 lack cramjam, crc32c: install it there"
        " (pip install cramjam crc32c)"
    )


def test_what_goes_wrong_there_is_a_line(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> list[str]:
        raise ModuleNotFoundError("No module named 'pipeline'")

    monkeypatch.setattr(workers, "missing", fail)
    with pytest.raises(UnavailableError) as raised:
        require(spark, MASTER, 1)
    assert str(raised.value) == (
        "the workers of spark://cluster:7077 fail: ModuleNotFoundError: No module named 'pipeline'"
    )
