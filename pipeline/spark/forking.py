"""The process from which Python's workers are forked on this machine: it imports once what all of them need.

`python -m barnabas.pipeline.spark.forking`, as Spark starts it (spark.python.daemon.module).
"""

from __future__ import annotations

import importlib
import sys
from typing import Final

# Spark puts archives of pyspark in front, whose modules are compiled each time that they are imported
sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]

from pyspark import daemon  # noqa: E402

NEEDED: Final = ("pandas", "pyarrow.compute", "barnabas.pipeline.tables.tables")
"""pyspark's own workers import pandas before anything of ours."""

if __name__ == "__main__":
    for name in NEEDED:
        importlib.import_module(name)
    daemon.manager()
