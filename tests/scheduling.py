"""Which tests stay in one process where workers (pytest-xdist) share them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

SPARK: Final = ("spark: SparkSession", '"spark_of_commands"')
"""How tests ask for Spark's fixtures."""


class OneSpark(LoadFileScheduling):  # type: ignore[misc]
    """A file stays in one process: what its tests share is made once. So do all files with Spark's fixtures:
    each further JVM would load and compile the same again."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "spark" if asks_for_spark(self.config.rootpath / file) else file


@cache
def asks_for_spark(file: Path) -> bool:
    """Whether tests of a file ask for Spark's fixtures."""
    text = file.read_text()
    return any(one in text for one in SPARK)
