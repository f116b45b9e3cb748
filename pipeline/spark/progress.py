"""How far Spark is with what it works on: tasks that are done, of those that are known."""

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
"""Seconds between two looks at a driver of our own."""

Tell = Callable[[int, int], None]
"""Told of the tasks that are done and of all that are known; both 0 between two jobs."""


@contextmanager
def watched(spark: SparkSession, tell: Tell) -> Iterator[None]:
    """Tell of tasks while this lasts, from a thread of its own."""
    if is_remote():
        with _of_connect(spark, tell):
            yield
        return
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(INTERVAL):
            try:
                tracker = spark.sparkContext.statusTracker()
                infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
            except Exception:  # noqa: BLE001 - it has ended, or is just ending: others will hear of that
                return
            known = [info for info in infos if info is not None]
            tell(sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known))

    thread = threading.Thread(target=look, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def _of_connect(spark: SparkSession, tell: Tell) -> Iterator[None]:
    """A server tells of itself."""

    def heard(stages: Iterable[Any] | None, *_: Any, **__: Any) -> None:
        known = list(stages or ())
        tell(sum(one.num_completed_tasks for one in known), sum(one.num_tasks for one in known))

    handler = cast("ProgressHandler", heard)  # that it is a class of theirs, Spark does not ask
    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)
