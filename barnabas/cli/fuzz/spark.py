"""`barnabas fuzz run --spark`: a round's cases as shards on Spark, where each worker starts its own target.

Rounds run one after the other, since energies change only between them. The results of a shard come back as a
table. They are stored like any batch, after the shards before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from barnabas.cli.console.options import SparkOptions
from barnabas.cli.console.spark_session import spark_session
from barnabas.cli.fuzz.targets import target
from barnabas.fuzz.engine.assembly import PreparedCampaign
from barnabas.fuzz.engine.rounds import Batch, RunRound
from barnabas.fuzz.engine.shard_pool import Shelf, side_by_side
from barnabas.fuzz.engine.shards import SCHEMA, Job, Row, checked_rows, job_of, shards
from barnabas.fuzz.errors import CannotRun
from barnabas.pipeline.spark.errors import reason
from barnabas.pipeline.spark.session import QUICK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALLEST: Final = 50
"""The fewest cases of a shard, since each shard starts a target."""

SHARDS: Final = 2
"""Shards of a round for each core: more shards lose less if interrupted, but start more targets."""

SETTINGS: Final = {
    **QUICK,
    "spark.executor.extraJavaOptions": QUICK["spark.driver.extraJavaOptions"],
}


@contextmanager
def on_spark(
    options: SparkOptions, assembly: PreparedCampaign, owned: bool, shelf: Shelf
) -> Iterator[RunRound]:
    """Run rounds on Spark until the end of `with`. Raises Trouble."""
    with spark_session(options, SETTINGS) as spark:
        yield rounds(spark, job_of(assembly, owned, target), shelf)


def rounds(spark: SparkSession, job: Job, shelf: Shelf) -> RunRound:
    """Return a function that runs a round, with a Spark job for each shard.

    So the results of a shard are stored as soon as it ends.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    def run_round(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        cores = _parallelism(spark)  # the number of workers may change
        work = shards(job, dict(energies))

        def run_shard(shard: range) -> Sequence[Row]:
            ids = spark.range(shard.start, shard.stop, 1, 1)
            try:
                rows = ids.mapInArrow(work, SCHEMA).collect()
            except (PySparkException, Py4JError) as problem:
                raise CannotRun(f"Spark failed: {reason(problem)}") from None
            return checked_rows([(row["kind"], row["said"]) for row in rows])

        size = max(SMALLEST, len(numbers) // (cores * SHARDS))
        yield from side_by_side(
            run_shard, numbers, size=size, at_once=cores, shelf=shelf, give_up=spark.interruptAll
        )

    return run_round


def _parallelism(spark: SparkSession) -> int:
    from pyspark.sql.utils import is_remote

    return 16 if is_remote() else spark.sparkContext.defaultParallelism
