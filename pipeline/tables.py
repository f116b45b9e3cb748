"""From capture files to tables on disk: Parquet, for Spark and whatever else reads it.

exchanges: a row each (EXCHANGES), and the decoded bodies as `body` VARIANT {request, response}; in folders
by capture, day and api. errors (ERRORS): what could not be read. connections, notes: see `smaller.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from pipeline import folders
from pipeline.bodies import body_text
from pipeline.columns import ERRORS, EXCHANGES, Column, arrow, ddl
from pipeline.completing import Completion
from pipeline.facts import Facts, Said, gather
from pipeline.frames import completed, outcome_rows, parallelism, planned, segment_rows
from pipeline.outcomes import ALL, Place
from pipeline.plan import Plan, sorted_paths
from pipeline.ranges import SIZE, memory, ranges
from pipeline.rows import batch, exchange
from pipeline.smaller import CONNECTIONS, NOTES, connection_row, error_row, fault_rows, note_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": EXCHANGES,
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
}
"""By name; exchanges have `body` behind their columns."""

FOLDERS: Final = ("capture", "day", "api")
"""By which the rows of exchanges are in folders; those of the others by capture alone."""

SHARE: Final = 256 << 20
"""Bytes of captures whose flows are one task's, at most so far as they can be parted."""

STEPS: Final = ("surveying", "reading flows", "gathering names", "writing tables")

Progress = Callable[[int, int, str], None]
"""Told which step begins: its number from 0, how many there are, and what it is."""


class Written(NamedTuple):
    """What was written."""

    capture: str
    """What it is called in the tables."""
    packets: int
    exchanges: int
    errors: int
    connections: int


def write(
    spark: SparkSession,
    captures: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    *,
    name: str | None = None,
    size: int = SIZE,
) -> Written:
    """Write what capture files hold into the tables in a folder. The files are read as one capture.

    What the tables had of this capture is replaced, of others nothing changes. If the run is killed, the
    tables are as they were, or the next run ends what was begun. name: what the capture is called
    (None: like its first file). size: bytes of files that a task reads.

    Raises OSError, CaptureError if a file is no capture, and ValueError if there is none.
    """
    if not captures:
        raise ValueError("no capture files")
    step = iter(range(len(STEPS)))

    def begin() -> None:
        number = next(step)
        if progress is not None:
            progress(number, len(STEPS), STEPS[number])

    begin()
    paths = sorted_paths(captures)
    run = folders.begin(out)
    try:
        capture = name or folders.name_for(out, paths[0])
        made = planned(spark, ranges(paths, size))
        begin()
        travelling = run / "_travelling"
        found = _flows(spark, paths, made)
        found.write.option("compression", "lz4").parquet(str(travelling))
        found = spark.read.parquet(str(travelling))
        begin()
        facts = gather(_said(found), made.epochs)
        begin()
        _write_exchanges(found, facts, capture, run)
        _write_smaller(spark, found, facts, made, capture, run)
        written = _count(spark, run, made, capture)
        folders.finish(out, run, capture, str(paths[0].resolve()))
    except BaseException:
        folders.give_up(run)
        raise
    return written


def read(spark: SparkSession, out: Path, table: str) -> DataFrame:
    """A table of a folder, of all captures in it. Raises LookupError for one that there is not."""
    columns = TABLES[table]
    schema = ddl(columns) + (", `body` variant" if table == "exchanges" else "")
    return spark.read.schema(schema).parquet(str(out / table))


def _flows(spark: SparkSession, paths: Sequence[Path], made: Plan) -> DataFrame:
    """All that travels: exchanges with their bodies, and what is said beside them."""
    total = sum(path.stat().st_size for path in paths)
    # payload is looked up in the files as long as they stay in the system's cache meanwhile
    carry = total > memory() // 4
    shares = max(2 * parallelism(spark), -(-total // SHARE))
    columns = tuple(column.name for column in ALL)
    return outcome_rows(segment_rows(spark, made, carry=carry), made, columns, shares)


_NAMES: Final = ("topic", "producer", "broker")
"""What many flows say alike."""


def _said(found: DataFrame) -> Iterator[Said]:
    from pyspark.sql.functions import col

    here = found.where(col("kind").isin("connection", "flow", "loss"))
    for row in here.select("kind", "epoch", "of", *Place._fields).toLocalIterator():
        yield Said(row["kind"], row["epoch"], row["of"], Place(*row[3:]), {})
    names = found.where(col("kind").isin(*_NAMES)).select("kind", "said").distinct()
    for row in names.orderBy("kind", "said").toLocalIterator():
        yield Said(row["kind"], 0, 0, Place(0, 0, 0), json.loads(row["said"]))


def _write_exchanges(found: DataFrame, facts: Facts, capture: str, run: Path) -> None:
    from pyspark.sql.functions import col, parse_json

    def complete(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        completion = Completion(facts, capture)
        for one in batches:
            full = completion.complete(one, ALL)
            texts = [body_text(exchange(row), facts.topics) for row in full.to_pylist()]
            arrays = [full[column.name] for column in EXCHANGES]
            yield pa.RecordBatch.from_arrays([*arrays, pa.array(texts, pa.string())], schema=schema)

    schema = arrow((*EXCHANGES, _BODY))
    rows = found.where(col("kind") == "exchange")
    rows = rows.mapInArrow(complete, ddl((*EXCHANGES, _BODY)))
    rows = rows.withColumn("body", parse_json(col("body"))).drop("capture")
    rows.write.partitionBy(*FOLDERS[1:]).parquet(str(run / "exchanges"))


_BODY: Final = Column("body", "string", "{request, response}")


def _write_smaller(
    spark: SparkSession, found: DataFrame, facts: Facts, made: Plan, capture: str, run: Path
) -> None:
    kinds = (
        ("errors", "error", ERRORS, error_row, fault_rows(made, capture)),
        ("connections", "connection", CONNECTIONS, connection_row, []),
        ("notes", "", NOTES, None, note_rows(made, capture)),
    )
    for table, kind, columns, make, more in kinds:
        rows = spark.createDataFrame(pa.Table.from_batches([batch(more, columns)]))
        if make is not None:
            rows = _smaller(found, kind, columns, make, facts, capture).unionByName(rows)
        rows.drop("capture").coalesce(1).write.parquet(str(run / table))


def _smaller(
    found: DataFrame,
    kind: str,
    columns: tuple[Column, ...],
    make: Callable[..., dict[str, Any]],
    facts: Facts,
    capture: str,
) -> DataFrame:
    from pyspark.sql.functions import col

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            said = zip(*(one[name].to_pylist() for name in ("said", "epoch", "of")), strict=True)
            yield batch(
                (make(json.loads(text), epoch, of, facts, capture) for text, epoch, of in said),
                columns,
            )

    small = found.where(col("kind") == kind).select("said", "epoch", "of")
    return small.mapInArrow(rows, ddl(columns))


def _count(spark: SparkSession, run: Path, made: Plan, capture: str) -> Written:
    counts = {
        table: spark.read.schema(ddl(columns)).parquet(str(run / table)).count()
        for table, columns in TABLES.items()
    }
    return Written(
        capture, made.packets, counts["exchanges"], counts["errors"], counts["connections"]
    )
