"""Follows a folder as a process that may be killed: FOLDER OUT SEGMENTS [WHERE BATCH].

It kills itself in that batch before a step of it: `tables`, `second table`, `state`, or behind all of them
(`over`), where Spark does not know yet that the batch is.
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


def main(folder: str, out: str, at_once: str, where: str = "", number: str = "-1") -> None:
    """Follow until all is read."""
    fatal = int(number)

    class Fatal(Batches):
        """Batches of which one is the last."""

        def install(self, run: Path, number: int, tables: Any) -> None:
            """See there."""
            die(number, "tables")
            super().install(run, number, list(tables)[:1])
            die(number, "second table")
            super().install(run, number, list(tables)[1:])

        def finish(self, run: Path, number: int, state: Any) -> None:
            """See there."""
            die(number, "state")
            super().finish(run, number, state)
            die(number, "over")

    def die(batch: int, place: str) -> None:
        if (batch, place) == (fatal, where):
            os.kill(os.getpid(), signal.SIGKILL)

    with session("local[2]", {**QUICK, "spark.driver.memory": "1g"}) as spark:
        batches = Fatal(Path(out).resolve())
        follow(
            spark, Path(folder), batches, at_once=int(at_once), until_read=True
        ).awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
