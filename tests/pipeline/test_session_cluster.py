"""Our work on a real standalone Spark cluster."""

from __future__ import annotations

from pathlib import Path

from pipeline.session import session
from tests.pipeline.spark_processes import standalone


def test_try(tmp_path: Path) -> None:
    with standalone(tmp_path) as url, session(url, {"spark.driver.memory": "1g"}) as spark:
        assert spark.range(10).count() == 10
