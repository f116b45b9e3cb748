"""Which tests stay in one process where workers (pytest-xdist) share them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

SPARK: Final = ("spark: SparkSession", '"spark_of_commands"')
"""How tests ask for Spark's fixtures."""

EXPERIMENTS: Final = Path("tests", "experiments")
BROKERS: Final = "cluster: ApacheCluster"
"""How tests there ask for three brokers; they mostly wait."""


class SharedProcesses(LoadFileScheduling):  # type: ignore[misc]
    """A file stays in one process: what its tests share is made once. So do all files with Spark's fixtures,
    and all with the brokers of EXPERIMENTS: each further JVM would load and compile the same again."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return shared(self.config.rootpath, Path(file)) or file


@cache
def shared(root: Path, file: Path) -> str:
    """What the tests of a file share with those of others; "": nothing."""
    text = (root / file).read_text()
    if EXPERIMENTS in file.parents and BROKERS in text:
        return "brokers"
    return "spark" if any(one in text for one in SPARK) else ""
