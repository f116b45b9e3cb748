"""A Spark driver of our own: a JVM beside this process, which ends with it."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from barnabas.endings import noted
from barnabas.location import ROOT
from barnabas.pipeline.spark.class_archive import JAVA_OPTIONS, Archive, archive
from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.java import java_home
from barnabas.pipeline.spark.masters import Master
from barnabas.pipeline.spark.shipping import UNPACKED, pack
from barnabas.pipeline.spark.workers import require

LOOPBACK: Final = "127.0.0.1"

PATIENCE: Final = 60.0
"""Seconds in which a cluster has to give us a worker."""

HEAP, PER_CORE, SHARE = 384 << 20, 128 << 20, 8
"""The driver's heap (bytes), more for each task that runs in it at once, and the share of the memory that it
is at most, unless that is less than for one task. No body passes it, of captures of any size."""

KEPT: Final[Mapping[str, str]] = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}
"""What workers free is kept for the next batch: glibc and Arrow's own pool give it back, and it is faulted in
anew, which takes a seventh of the time of tables."""

SEARCHED: Final = ("spark-", "scala-", "hadoop-client-", "log4j-", "jackson-", "parquet-", "arrow-")
"""Jars that most classes come from: a class is looked for in one jar after the other, of some hundred."""


@contextmanager
def driver(master: Master, wanted: Mapping[str, str], folder: Path) -> Iterator[SparkSession]:
    """A session whose driver is here. folder: for its files. Raises UnavailableError."""
    said = folder / "said.txt"
    with said.open("wb") as log, _interrupts() as before, _unlogged():
        variables = _variables(master, folder)
        classes = _classes(master, wanted, Path(variables["JAVA_HOME"]))
        if classes is not None:
            given = wanted.get(JAVA_OPTIONS, "")
            wanted = {**wanted, JAVA_OPTIONS: f"{given} {classes.options}"}
        conf = _configuration(master, wanted, folder)
        with _environment(variables):
            gateway = _started(conf, log, said)
            context = _context(conf, gateway, master, said)
        # its own handler asks the JVM something in the middle of another question
        _hear(before)
        asking, ended_well = True, False
        try:
            context.setLogLevel("ERROR")
            spark = SparkSession(context)
            if master.kind == "cluster":
                _await_workers(context, master)
                context.addArchive(f"{pack(folder / 'barnabas.zip')}#{UNPACKED}")
                require(spark, master, context.defaultParallelism)
            yield spark
            asking, ended_well = False, True
        except Exception:
            asking = False
            raise
        finally:
            if master.kind == "embedded":
                # all that it has is in the folder, and nobody waits for it
                accumulators: Any = context._accumulatorServer
                accumulators.handle_error = lambda *_: None  # it would print that the JVM is gone
                forgotten: Any = context
                forgotten._jsc = None  # nobody is there to be asked to stop
                if ended_well and classes is not None and classes.makes:
                    classes.ended_well()
                    _leave(gateway)
                else:
                    _kill(gateway)
            else:
                if not asking:  # an answer that nobody waited for would be taken for the next one's
                    _quietly(context.stop)
                _end(gateway)
            _quietly(context.stop)  # pyspark forgets it, whatever became of it


def _started(conf: SparkConf, log: IO[bytes], said: Path) -> Any:
    """A JVM that waits for us; what it prints goes to the log. Whoever interrupts that is heard behind it:
    before, nobody knows the JVM that is to end."""
    with noted() as pressed:
        try:
            gateway = launch_gateway(  # type: ignore[no-untyped-call]
                conf, {"stdout": log, "stderr": subprocess.STDOUT}
            )
            # the first question to the JVM loads it, and with it pandas: see `put_off`
            import pyspark.testing  # noqa: F401
        except PySparkException:
            raise UnavailableError(f"Spark does not start: {_reason(said)}") from None
    if pressed.is_set():
        _kill(gateway)
        raise KeyboardInterrupt
    return gateway


def _context(conf: SparkConf, gateway: Any, master: Master, said: Path) -> SparkContext:
    """Return a context of the JVM, which ends if there is none."""
    try:
        return SparkContext(conf=conf, gateway=gateway)
    except Py4JError:
        _kill(gateway)
        raise UnavailableError(f"{master.url} started no Spark: {_reason(said)}") from None
    except BaseException:
        _kill(gateway)
        raise


def _classes(master: Master, wanted: Mapping[str, str], java: Path) -> Archive | None:
    """What is kept of the classes of a session."""
    embedded = master.kind == "embedded"
    return archive(java, _jars(), wanted) if embedded else None


def _jars() -> Path:
    return Path(_find_spark_home()) / "jars"


def _configuration(master: Master, wanted: Mapping[str, str], folder: Path) -> SparkConf:
    memory = max(HEAP + PER_CORE, min(HEAP + PER_CORE * master.tasks, _memory() // SHARE))
    ours = {
        "spark.app.name": "barnabas",
        "spark.master": master.url,
        "spark.driver.memory": f"{memory >> 20}m",
        # the least: each small table that is joined has a page of its own, of 16 MiB where Spark chooses
        "spark.buffer.pageSize": "1m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if master.kind == "embedded":
        # elsewhere our packages come only with the first task
        ours["spark.python.daemon.module"] = "barnabas.pipeline.spark.forking"
        first = [path for name in SEARCHED for path in sorted(_jars().glob(f"{name}*.jar"))]
        ours["spark.driver.extraClassPath"] = os.pathsep.join(map(str, first))
    else:
        ours["spark.executorEnv.PYTHONPATH"] = UNPACKED
        # what is killed leaves files to Spark, which removes them
        ours["spark.executorEnv.TMPDIR"] = "."
    if master.here:
        ours["spark.driver.host"] = ours["spark.driver.bindAddress"] = LOOPBACK
    return SparkConf(loadDefaults=False).setAll([*{**ours, **wanted}.items()])


def _variables(master: Master, folder: Path) -> dict[str, str]:
    """What the JVM, and through it Python's workers, find in their environment."""
    python = sys.executable
    if master.kind == "cluster":  # its machines may have it elsewhere
        python = os.environ.get("PYSPARK_PYTHON", python)
    variables = {
        "JAVA_HOME": str(java_home(os.environ, folder / "java")),
        "PYSPARK_PYTHON": python,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # workers import our packages, whatever else the folder is called that this began in
        "PYTHONSAFEPATH": "1",
        "SPARK_HOME": _find_spark_home(),  # else a script asks another Python for it
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }
    if master.kind == "embedded":
        variables["TMPDIR"] = str(folder)  # what workers leave that were killed goes with it
        variables |= KEPT
    if master.here:
        variables["SPARK_LOCAL_IP"] = LOOPBACK
    if master.local_cluster:
        variables["SPARK_HOME"] = str(_home(folder / "home"))
    return variables


def _home(folder: Path) -> Path:
    """Spark's files in a folder of ours, as links: it would make its workers' folders beside them."""
    folder.mkdir()
    for path in Path(_find_spark_home()).iterdir():
        (folder / path.name).symlink_to(path)
    return folder


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """The variables in this process, since the JVM inherits them; then what was there before.

    That is all of it: a SparkContext leaves some of its own (SPARK_BUFFER_SIZE), with Spark's defaults.
    """
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _interrupts() -> Iterator[Any]:
    """SIGINT as before at the end: a SparkContext takes it for itself. Gives what handled it before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield before
    finally:
        _hear(before)


def _hear(handler: Any) -> None:
    """Let that handle SIGINT. Only the main thread may say so, and only there pyspark does."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)


def _await_workers(context: SparkContext, master: Master) -> None:
    """Until a worker has begun to work for us; without one a job would wait for ever."""
    deadline = time.monotonic() + PATIENCE
    try:
        # the driver itself is one of them
        while context._jsc.sc().getExecutorMemoryStatus().size() < 2:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"{master.url} assigned no worker within {PATIENCE:.0f} s:"
                    " are there any with free cores and memory?"
                )
            time.sleep(0.05)
    except Py4JError:
        raise UnavailableError(f"{master.url} rejected the application or went away") from None


def _end(gateway: Any) -> None:
    """End the JVM, and let pyspark forget it, so that another may be started."""
    process: subprocess.Popen[bytes] = gateway.proc
    _close_input(gateway)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _forget(gateway)


def _kill(gateway: Any) -> None:
    """The same at once."""
    gateway.proc.kill()
    _end(gateway)


def _leave(gateway: Any) -> None:
    """The same, but nobody waits for its end."""
    _close_input(gateway)
    _forget(gateway)


def _close_input(gateway: Any) -> None:
    """The JVM ends when its input does."""
    if gateway.proc.stdin is not None:
        _quietly(gateway.proc.stdin.close)


def _forget(gateway: Any) -> None:
    _quietly(gateway.shutdown)
    SparkContext._gateway = None
    SparkContext._jvm = None


@contextmanager
def _unlogged() -> Iterator[None]:
    """py4j logs an interrupt with the whole story; where nobody has set up logging that is for nobody."""
    nobody = logging.NullHandler()
    logging.root.addHandler(nobody)
    try:
        yield
    finally:
        logging.root.removeHandler(nobody)


def _quietly(close: Any) -> None:
    """Close what may be gone already, of which py4j would tell the whole story."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
            close()
    finally:
        logging.disable(before)


def _memory() -> int:
    """Of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _reason(said: Path) -> str:
    """Of all that the JVM printed, the line that says why."""
    lines = said.read_text(errors="replace").splitlines()
    told = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
    telling = [line for line in told if "Exception" in line or "rror" in line]
    return (telling or told or ["no message"])[-1][:300]
