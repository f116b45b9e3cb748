"""Follows a folder as a process that is killed: FOLDER OUT.

It kills itself when the second batch is over, which Spark does not know yet.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from barnabas.pipeline.spark.session import QUICK, session
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import follow

LAST = 1


class Fatal(Batches):
    """Batches of which one is the last."""

    def finish(self, run: Path, number: int, state: Any) -> None:
        """See there."""
        super().finish(run, number, state)
        if number == LAST:
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, out = map(Path, sys.argv[1:])
    with session("local[2]", {**QUICK, "spark.driver.memory": "1g"}) as spark:
        follow(spark, folder, Fatal(out.resolve()), at_once=2, until_read=True).awaitTermination()
