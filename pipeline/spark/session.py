"""Spark sessions: one way to have Spark, wherever it runs."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from barnabas.endings import put_off
from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import parse_master, reach

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # what a worker is given at once: of large bodies not 10,000
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
}
"""What our code counts on, wherever it runs."""

LIGHT: Final[Mapping[str, str]] = {
    "spark.driver.extraJavaOptions": (
        # it would keep 48 MiB for code: some thousand queries fill that, and little is compiled then
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        # Spark's own jars are not verified; no class is made of what is called some dozen times
        " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
        " -Dsun.reflect.inflationThreshold=2147483647"
    ),
    "spark.sql.codegen.wholeStage": "false",
}
"""Settings where loading and compiling takes longer than what it would make faster: most of the work is
Python's."""

LIGHT_UP_TO: Final = 4 << 30
"""Bytes of captures for which they are taken: measured up to 2 GiB, where the JVM needs half as much time."""

QUICK: Final[Mapping[str, str]] = {**LIGHT, "spark.sql.shuffle.partitions": "2"}
"""Settings for little data."""

INSTALLED: Final = ("pyspark", "pyarrow", "pandas")
"""What the extra `spark` brings."""


@contextmanager
def session(
    master: str | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Spark, until the end of the `with`: JVM, workers and what they wrote are gone then. Only a JVM that
    makes an archive of its classes (`class_archive.py`) goes on for some seconds.

    master: `local[N]` (None: all cores here), `spark://HOST:PORT`, `sc://HOST:PORT` (Spark Connect),
    or another of Spark's. settings: Spark's own, which go before ours.

    Raises ValueError for what is no master, UnavailableError if Spark can't be had; both say in a
    line what to do. In the main thread SIGINT raises KeyboardInterrupt, as ever.
    """
    where = parse_master(master)
    with put_off():
        lacking = [name for name in INSTALLED if importlib.util.find_spec(name) is None]
    if lacking:
        raise UnavailableError(
            f"Spark needs the package {lacking[0]}: pip install 'barnabas[spark]'"
        )
    reach(where)
    wanted = {**SETTINGS, **(settings or {})}
    with ExitStack() as stack:
        # what was killed in it may still finish a write
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="barnabas-spark-", ignore_cleanup_errors=True)
            )
        )
        if where.kind == "connect":
            from barnabas.pipeline.spark.connect import connected

            yield stack.enter_context(connected(where, wanted, folder))
        else:
            with put_off():
                from barnabas.pipeline.spark.driver import driver

            yield stack.enter_context(driver(where, wanted, folder))
