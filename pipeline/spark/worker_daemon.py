"""The process from which local Python workers are forked: it imports once what all of them need.

Spark starts it as `python -m barnabas.pipeline.spark.worker_daemon` (spark.python.daemon.module).
"""

from __future__ import annotations

import importlib
import sys
from typing import Final

# Spark's path begins with archives of pyspark, whose modules are compiled at each import
sys.path[:] = [path for path in sys.path if not path.endswith(".zip")]

from pyspark import daemon  # noqa: E402

NEEDED: Final = ("pandas", "pyarrow.compute", "barnabas.pipeline.tables.tables")
"""pyspark's own workers import pandas before any module of ours."""

if __name__ == "__main__":
    for name in NEEDED:
        importlib.import_module(name)
    daemon.manager()
