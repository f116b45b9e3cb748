"""Spark sessions: one function for all masters."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Literal

from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import parse_master, reach
from barnabas.pipeline.spark.working_folder import working_folder
from barnabas.stop_signals import delay_stop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: Final[Mapping[str, str]] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # the size of a worker's batches: 10,000 large bodies would be too much
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
}
"""Settings that our code relies on, for all masters."""

LIGHT: Final[Mapping[str, str]] = {
    "spark.driver.extraJavaOptions": (
        # by default 48 MiB hold compiled code: a few thousand queries fill that and stop compilation
        "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
        # do not verify Spark's own jars; do not make classes for reflective calls
        " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
        " -Dsun.reflect.inflationThreshold=2147483647"
    ),
    "spark.sql.codegen.wholeStage": "false",
}
"""Settings for work in which loading and compiling take longer than they save: most of the work is Python's.
"""

LIGHT_UP_TO: Final = 4 << 30
"""Bytes of captures up to which LIGHT is used: measured up to 2 GiB, where the JVM needs half as much time.
"""

QUICK: Final[Mapping[str, str]] = {**LIGHT, "spark.sql.shuffle.partitions": "2"}
"""Settings for little data."""

INSTALLED: Final = ("pyspark", "pyarrow", "pandas")
"""The packages of the extra `spark`."""


Engine = Literal["sail", "spark"]
"""The program that runs PySpark's code."""


@contextmanager
def session(
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
    engine: Engine = "spark",
) -> Iterator[SparkSession]:
    """Yield a Spark session; at the end, its JVM, workers and files are removed.

    In the main thread SIGINT raises KeyboardInterrupt, as usual.

    Args:
        master: `local[N]` (None: all cores of this machine), `spark://HOST:PORT`, `sc://HOST:PORT` (Spark
            Connect), or another master of Spark.
        settings: Spark's settings, which override ours.
        engine: Sail runs in this process, whatever the master.

    Raises:
        ValueError: The master is invalid.
        UnavailableError: Spark is unavailable; the message is one line with a remedy.
    """
    parsed = parse_master(master)
    all_settings = {**SETTINGS, **(settings or {})}
    if engine == "sail":
        from barnabas.pipeline.spark.sail import sail

        with sail(all_settings) as spark:
            yield spark
        return
    with delay_stop():
        missing = [name for name in INSTALLED if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(
            f"Spark needs the package {missing[0]}: install barnabas with the extra 'spark'"
        )
    reach(parsed)
    with delay_stop():
        if parsed.kind == "connect":
            from barnabas.pipeline.spark.connect import connected as started
        else:
            from barnabas.pipeline.spark.driver import driver as started
    with working_folder() as folder, started(parsed, all_settings, folder) as spark:
        yield spark
