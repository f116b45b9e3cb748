"""One Spark for all tests of a worker process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pipeline.session import QUICK, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Embedded, small, with few partitions: the data of tests is."""
    with session("local[2]", {**QUICK, "spark.driver.memory": "1g"}) as spark:
        yield spark


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test with Spark may have to wait for the start of a JVM, on whatever machine."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(600))
