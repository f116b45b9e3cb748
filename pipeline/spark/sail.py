"""Sail: an engine that runs PySpark's code in this process, without a Java.

Its server speaks Spark Connect on this machine's loopback, at a port that the system chooses. It has no
authentication: as long as it runs, other users of this machine can reach it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.stop_signals import delay_stop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BEFORE: Final = (4, 3)
"""The first version of pyspark that Sail does not support: it says of each session that it is not running."""


def sail_installed() -> bool:
    """Return whether Sail and a version of pyspark that it supports are installed."""
    return not _obstacle()


def _obstacle() -> str:
    """Return the reason why Sail is unavailable, with a remedy; empty if it is available."""
    for package in ("pysail", "pyspark", "pyarrow", "pandas"):
        if find_spec(package) is None:
            return f"Sail needs the package {package}: install barnabas with the extra 'sail'"
    for package in ("pyspark-client", "pyspark"):
        with suppress(PackageNotFoundError):
            version = package_version(package)
            if tuple(map(int, version.split(".")[:2])) < BEFORE:
                return ""
            most = ".".join(map(str, BEFORE))
            return (
                f"Sail needs {package} before {most}, not {version}: pip install '{package}<{most}'"
            )
    return ""


@contextmanager
def sail(settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Yield a session of a server in this process, which ends with it. Raises UnavailableError."""
    if obstacle := _obstacle():
        raise UnavailableError(obstacle)
    os.environ.setdefault("RUST_LOG", "off")  # its messages are for its developers
    with delay_stop():
        from pysail.spark import SparkConnectServer

        from barnabas.pipeline.spark.connect import remote_session

        server = SparkConnectServer("127.0.0.1", 0)
        server.start()
    try:
        _, port = server.listening_address
        with remote_session(f"sc://127.0.0.1:{port}", settings) as spark:
            yield spark
    finally:
        server.stop()
