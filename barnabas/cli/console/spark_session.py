"""The Spark session of commands that run in shards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from barnabas.cli.console.options import SparkOptions
from barnabas.pipeline.spark.errors import UnavailableError
from barnabas.pipeline.spark.masters import parse_master
from barnabas.pipeline.spark.session import session
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def spark_session(options: SparkOptions, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start Spark as the options say. Raises Trouble.

    settings: Defaults, which a Spark Connect server does not get: it has its own configuration.
    """
    defaults = {} if parse_master(options.master).kind == "connect" else settings
    try:
        with session(options.master, {**defaults, **dict(options.conf)}) as spark:
            yield spark
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
