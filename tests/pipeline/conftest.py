"""One Spark session for all tests of a worker process: starting one takes longer than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.session import QUICK, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Embedded, on two cores."""
    with session("local[2]", {**QUICK, "spark.driver.memory": "1g"}) as spark:
        yield spark
