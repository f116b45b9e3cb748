"""`barnabas fuzz run --spark`: a round's cases in shards on Spark, each worker with a target of its own.

One round at a time: only between rounds do energies change. What a shard found comes back as a table, and
is kept as any batch is, or put by until those before it have come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from barnabas.cli.console.options import SparkOptions
from barnabas.cli.fuzz.targets import target
from barnabas.fuzz.engine.assembly import PreparedCampaign
from barnabas.fuzz.engine.rounds import Batch, RunRound
from barnabas.fuzz.engine.shard_pool import Shelf, side_by_side
from barnabas.fuzz.engine.shards import SCHEMA, Job, Row, checked_rows, job_of, shards
from barnabas.fuzz.errors import CannotRun
from barnabas.pipeline.spark.errors import UnavailableError, reason
from barnabas.pipeline.spark.masters import parse_master
from barnabas.pipeline.spark.session import QUICK, session
from barnabas.trouble import COULD_NOT_RUN, Trouble

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALLEST: Final = 50
"""Cases of a shard: a target must be started for it."""

SHARDS: Final = 2
"""Of a round, for each core: more lose less when they are interrupted, and start more targets."""

SETTINGS: Final = {
    **QUICK,
    "spark.executor.extraJavaOptions": QUICK["spark.driver.extraJavaOptions"],
}


@contextmanager
def on_spark(
    options: SparkOptions, found: PreparedCampaign, own: bool, shelf: Shelf
) -> Iterator[RunRound]:
    """Run rounds on Spark, until the end of the `with`. Raises Trouble."""
    # a Spark Connect server was set up by others, and takes none of these
    ours = {} if parse_master(options.master).kind == "connect" else SETTINGS
    try:
        with session(options.master, {**ours, **dict(options.conf)}) as spark:
            yield rounds(spark, job_of(found, own, target), shelf)
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def rounds(spark: SparkSession, job: Job, shelf: Shelf) -> RunRound:
    """What runs a round on this session: a job for each shard, so that a finished one is kept at once."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    def run_round(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        cores = _parallelism(spark)  # workers come and go
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
