"""A Spark driver of our own: a JVM as a child process, which ends with the session."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
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
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import SparkSession

from barnabas.location import ROOT
from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.java import java_home
from barnabas.pipeline.spark.masters import Master
from barnabas.pipeline.spark.shipping import UNPACKED, pack
from barnabas.pipeline.spark.workers import require
from barnabas.pipeline.spark.working_folder import jvms, kill
from barnabas.stop_signals import stop_event

LOOPBACK: Final = "127.0.0.1"

OUTPUT: Final = "said.txt"
"""The file of the JVM's output, in the session's folder."""

PATIENCE: Final = 60.0
"""Seconds in which a cluster has to assign a worker."""

HEAP, PER_CORE, SHARE = 384 << 20, 128 << 20, 8
"""The driver's heap (bytes), the addition for each concurrent task, and the largest share of the memory
unless that is less than for one task. No body passes through it, for captures of any size."""

KEPT: Final[Mapping[str, str]] = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}
"""Freed memory of workers stays for the next batch. glibc and Arrow's own pool would return it to the system,
and faulting it in again takes a seventh of the time of tables."""


@contextmanager
def driver(master: Master, settings: Mapping[str, str], folder: Path) -> Iterator[SparkSession]:
    """Yield a session whose driver is a child process. Raises UnavailableError.

    `folder` is for its files.
    """
    with (folder / OUTPUT).open("wb") as log, _unlogged():
        conf = _configuration(master, settings, folder)
        with _environment(_variables(master, folder)), _interrupts():
            gateway = _started(conf, log, folder)
            context = _context(conf, gateway, master, folder)
        interrupted = False
        try:
            context.setLogLevel("ERROR")
            spark = SparkSession(context)
            if master.kind == "cluster":
                _await_workers(context, master)
                context.addArchive(f"{pack(folder / 'barnabas.zip')}#{UNPACKED}")
                require(spark, master, context.defaultParallelism)
            yield spark
        except BaseException as problem:
            interrupted = not isinstance(problem, Exception)
            raise
        finally:
            if master.kind == "embedded":
                # all of its files are in the folder, so its end need not be awaited
                accumulators: Any = context._accumulatorServer
                accumulators.handle_error = lambda *_: None  # it would print that the JVM is gone
                forgotten: Any = context
                forgotten._jsc = None  # the JVM is gone and can't be stopped
                _end(gateway)
            else:
                if not interrupted:  # an unread response would be taken for the next one
                    _quietly(context.stop)
                _end(gateway, 10)
            _quietly(context.stop)  # pyspark forgets the context in any case


def _started(conf: SparkConf, log: IO[bytes], folder: Path) -> Any:
    """Return a JVM that waits for calls; its output goes to the log. An interrupt kills a JVM that starts."""
    information = folder / "gateway"
    options = [text for name, value in conf.getAll() for text in ("--conf", f"{name}={value}")]
    arguments = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    with stop_event() as pressed:
        variables = {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(information)}
        process = subprocess.Popen(  # noqa: S603
            [Path(_find_spark_home(), "bin", "spark-submit"), *options, *arguments],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **variables},
            start_new_session=True,  # see `kill`
        )
        jvms.append(process)
        # the first call of the JVM would load it, and with it pandas: see `delay_stop`
        import pyspark.testing  # noqa: F401

        while process.poll() is None and not information.exists():
            if pressed.wait(0.05):
                break
        if information.exists() and not pressed.is_set():
            with information.open("rb") as file:
                port = read_int(file)  # type: ignore[no-untyped-call]
                secret = UTF8Deserializer().loads(file)  # type: ignore[no-untyped-call]
            address = {"PYSPARK_GATEWAY_PORT": f"{port}", "PYSPARK_GATEWAY_SECRET": f"{secret}"}
            with _environment(address):  # so that it starts no JVM
                gateway = launch_gateway()  # type: ignore[no-untyped-call]
            gateway.proc = process
            if not pressed.is_set():
                return gateway
    kill(process)
    jvms.remove(process)
    if pressed.is_set():
        raise KeyboardInterrupt
    raise UnavailableError(f"Spark does not start: {_reason(folder / OUTPUT)}")


def _context(conf: SparkConf, gateway: Any, master: Master, folder: Path) -> SparkContext:
    """Return a context of the JVM; without a context, end the JVM."""
    try:
        return SparkContext(conf=conf, gateway=gateway)
    except BaseException as problem:
        _end(gateway)
        if isinstance(problem, Py4JError):
            message = f"{master.url} started no Spark: {_reason(folder / OUTPUT)}"
            raise UnavailableError(message) from None
        raise


def _configuration(master: Master, settings: Mapping[str, str], folder: Path) -> SparkConf:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = max(HEAP + PER_CORE, min(HEAP + PER_CORE * master.tasks, machine // SHARE))
    ours = {
        "spark.app.name": "barnabas",
        "spark.master": master.url,
        "spark.driver.memory": f"{memory >> 20}m",
        # the minimum: each small table in a join has its own page, by default of 16 MiB
        "spark.buffer.pageSize": "1m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if master.kind != "embedded":
        ours["spark.executorEnv.PYTHONPATH"] = UNPACKED
        # Spark removes the files of killed workers
        ours["spark.executorEnv.TMPDIR"] = "."
    if master.is_local:
        ours["spark.driver.host"] = ours["spark.driver.bindAddress"] = LOOPBACK
    return SparkConf(loadDefaults=False).setAll([*{**ours, **settings}.items()])


def _variables(master: Master, folder: Path) -> dict[str, str]:
    """Return the environment of the JVM and, through it, of Python's workers."""
    python = sys.executable
    if master.kind == "cluster":  # its machines may have it elsewhere
        python = os.environ.get("PYSPARK_PYTHON", python)
    variables = {
        "JAVA_HOME": str(java_home(os.environ, folder / "java")),
        "PYSPARK_PYTHON": python,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # workers must not import modules from the current folder
        "PYTHONSAFEPATH": "1",
        "SPARK_HOME": _find_spark_home(),  # otherwise a script gets it from another Python
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }
    if master.kind == "embedded":
        variables["TMPDIR"] = str(folder)  # files of killed workers are removed with it
        variables |= KEPT
    if master.is_local:
        variables["SPARK_LOCAL_IP"] = LOOPBACK
    if master.local_cluster:  # Spark would make its workers' folders next to its own files
        links = folder / "home"
        links.mkdir()
        for path in Path(_find_spark_home()).iterdir():
            (links / path.name).symlink_to(path)
        variables["SPARK_HOME"] = str(links)
    return variables


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set the variables in this process, since the JVM inherits them, and restore all variables after it.

    A SparkContext sets further ones (SPARK_BUFFER_SIZE) to Spark's defaults.
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
def _interrupts() -> Iterator[None]:
    """Restore the handler of SIGINT, which a SparkContext replaces.

    Its handler would call the JVM in the middle of another call.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        # Python allows that only in the main thread, where pyspark does it, too
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _await_workers(context: SparkContext, master: Master) -> None:
    """Wait until a worker has been assigned; without one, a job would wait forever."""
    deadline = time.monotonic() + PATIENCE
    try:
        # the driver itself counts as one
        while context._jsc.sc().getExecutorMemoryStatus().size() < 2:
            if time.monotonic() > deadline:
                raise UnavailableError(
                    f"{master.url} assigned no worker within {PATIENCE:.0f} s:"
                    " are there any with free cores and memory?"
                )
            time.sleep(0.05)
    except Py4JError:
        raise UnavailableError(f"{master.url} rejected the application or went away") from None


def _end(gateway: Any, seconds: float = 0) -> None:
    """End the JVM, killing it after some seconds, and reset pyspark, so that another JVM can be started."""
    process: subprocess.Popen[bytes] = gateway.proc
    if process.stdin is not None:  # the JVM ends when it is closed
        _quietly(process.stdin.close)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    kill(process)
    jvms.remove(process)
    _quietly(gateway.shutdown)
    SparkContext._gateway = None
    SparkContext._jvm = None


@contextmanager
def _unlogged() -> Iterator[None]:
    """Suppress py4j's log of an interrupt, which has a long traceback, if logging is not configured."""
    nobody = logging.NullHandler()
    logging.root.addHandler(nobody)
    try:
        yield
    finally:
        logging.root.removeHandler(nobody)


def _quietly(close: Any) -> None:
    """Close something that may be gone, without py4j's traceback."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.suppress(Py4JError, OSError), warnings.catch_warnings(action="ignore"):
            close()
    finally:
        logging.disable(before)


def _reason(output: Path) -> str:
    """Return the line of the JVM's output that has the reason of a failure."""
    lines = output.read_text(errors="replace").splitlines()
    messages = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
    errors = [line for line in messages if "Exception" in line or "rror" in line]
    return (errors or messages or ["no message"])[-1][:300]
