"""Spark's progress: finished tasks of all known tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from pyspark.sql.utils import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import ProgressHandler

INTERVAL: Final = 0.2
"""Seconds between two requests to a local driver."""

Tell = Callable[[int, int], None]
"""A function of finished and all known tasks; both are 0 between two jobs."""


@contextmanager
def watched(spark: SparkSession, tell: Tell) -> Iterator[None]:
    """Report tasks during the context: a local driver is asked by a thread, a Connect server sends them."""
    if is_remote():

        def progressed(stages: Iterable[Any] | None, *_: Any, **__: Any) -> None:
            active = list(stages or ())
            done = sum(stage.num_completed_tasks for stage in active)
            tell(done, sum(stage.num_tasks for stage in active))

        handler = cast("ProgressHandler", progressed)  # Spark does not check the class
        spark.registerProgressHandler(handler)
        try:
            yield
        finally:
            spark.removeProgressHandler(handler)
        return
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(INTERVAL):
            try:
                tracker = spark.sparkContext.statusTracker()
                infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            except Exception:  # noqa: BLE001 - the session has ended or is ending, which others will notice
                return
            active = [info for info in infos if info is not None]
            done = sum(stage.numCompletedTasks for stage in active)
            tell(done, sum(stage.numTasks for stage in active))

    thread = threading.Thread(target=poll, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
