"""Spark Connect: a session of a server, without a local Java."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import PATIENCE, Master
from barnabas.pipeline.spark.shipping import pack
from barnabas.pipeline.spark.workers import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROBES: Final = 4
"""The number of tasks that check the server's workers."""

_MODE: Final = "SPARK_CONNECT_MODE_ENABLED"
"""With this variable, pyspark's functions make columns of Connect, not of a JVM."""


@contextmanager
def connected(master: Master, settings: Mapping[str, str], folder: Path) -> Iterator[SparkSession]:
    """Yield a session of the server, whose workers have our packages. Raises UnavailableError.

    `folder` gets the zip of our packages.
    """
    with remote_session(master.url, settings) as spark:
        spark.addArtifacts(str(pack(folder / "barnabas.zip")), pyfile=True)
        require(spark, master, PROBES)
        yield spark


@contextmanager
def remote_session(url: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Yield a session of the server at a URL. Raises UnavailableError."""
    for name in ("grpc", "grpc_status", "google.protobuf"):
        if find_spec(name.split(".")[0]) is None:
            raise UnavailableError(
                f"Spark Connect needs the package {name}: install barnabas with the extra 'spark'"
            )
    import grpc
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession as Remote

    before = os.environ.get(_MODE)
    os.environ[_MODE] = "1"
    try:
        try:
            # the session itself would retry for ten minutes
            with DefaultChannelBuilder(url).toChannel() as channel:
                grpc.channel_ready_future(channel).result(timeout=PATIENCE)
            remote = Remote.builder.remote(url).create()
        except (grpc.FutureTimeoutError, grpc.RpcError, PySparkException) as problem:
            message = str(problem) or "the server there does not speak gRPC"
            raise UnavailableError(f"no Spark Connect at {url}: {message}") from None
        spark = cast("SparkSession", remote)
        try:
            for name, value in settings.items():
                spark.conf.set(name, value)
            yield spark
        finally:
            remote.stop()
    finally:
        if before is None:
            del os.environ[_MODE]
        else:
            os.environ[_MODE] = before
