"""Spark's own processes on loopback, as a user starts them: a standalone cluster, a Connect server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from barnabas.pipeline.spark.java import java_home
from barnabas.pipeline.spark.session import LIGHT

LITTLE = {"JDK_JAVA_OPTIONS": LIGHT["spark.driver.extraJavaOptions"]}
"""Environment of JVMs that end before it would pay to compile for them."""

PATIENCE = 120.0
WORKERS = 2


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """A master and two workers of a core each; yields the master's URL."""
    with ExitStack() as stack:
        here = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = _Process(folder / "master", "org.apache.spark.deploy.master.Master", *here)
        stack.callback(master.stop)
        url = master.says(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        workers = []
        for number in range(WORKERS):
            worker = _Process(
                folder / f"worker-{number}",
                "org.apache.spark.deploy.worker.Worker",
                *(*here, "--cores", "1", "--memory", "1g", url),
            )
            stack.callback(worker.stop)
            workers.append(worker)
        for worker in workers:
            worker.says("(Successfully registered) with master")
        yield url


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server that works itself, with two cores; yields its URL."""
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    server = _Process(
        folder / "connect",
        "org.apache.spark.deploy.SparkSubmit",
        *("--master", "local[2]"),
        *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    )
    try:
        yield "sc://" + server.says(r"Spark Connect server started at: (127\.0\.0\.1:\d+)")
    finally:
        server.stop()


class _Process:
    """A class of Spark's in a process of its own, which knows nothing of our packages."""

    def __init__(self, folder: Path, *command: str) -> None:
        folder.mkdir()
        spark = Path(pyspark.__file__).parent
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            **LITTLE,
            "JAVA_HOME": str(java_home(os.environ, folder / "java")),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "1g",
            "SPARK_HOME": str(spark),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_WORKER_DIR": str(folder),
        }
        self._log = folder / "log.txt"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(spark / "bin" / "spark-class"), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
            )

    def says(self, pattern: str) -> str:
        """The group of a pattern that it prints at some time."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self._log.read_text(errors="replace"))) is None:
            ended = self._process.poll()
            if ended is not None or time.monotonic() > deadline:
                raise AssertionError(f"ended: {ended}; it said {self._log.read_text()[-2000:]}")
            time.sleep(0.05)
        return found[1]

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
