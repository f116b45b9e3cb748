"""From capture files to tables on disk: Parquet, for Spark and whatever else reads it.

Exchanges are in folders by capture and day, sorted by api and time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.dataset as ds

from barnabas.endings import asking
from barnabas.pipeline.reading.facts import gather
from barnabas.pipeline.reading.file_order import sorted_paths
from barnabas.pipeline.reading.outcomes import ALL
from barnabas.pipeline.reading.packet_rows import WRITTEN
from barnabas.pipeline.reading.plan import Plan
from barnabas.pipeline.reading.ranges import SIZE, memory, ranges
from barnabas.pipeline.reading.side_tables import fault_rows, forgotten_rows, note_rows
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables import folders
from barnabas.pipeline.tables.capture_rows import CaptureRows
from barnabas.pipeline.tables.decoded_bodies import ELIDED, Bodies
from barnabas.pipeline.tables.keeping import by_tasks
from barnabas.pipeline.tables.parquet import Batches, Filed, Table, parts, write_rows, write_tables
from barnabas.pipeline.tables.quality import Read, quality_row, sums
from barnabas.pipeline.tables.schemas import ddl_of, filed_columns
from barnabas.pipeline.tables.spark_stages import (
    BATCH_BYTES,
    MOST,
    outcome_files,
    packets,
    parallelism,
    planned,
    segment_rows,
    segments_here,
)
from barnabas.pipeline.tables.travelled import counts, said
from barnabas.pipeline.tables.variants import lost_bodies

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LARGE, SMALL = 256 << 20, 4 << 20
"""Bytes of captures whose flows are one task's: at most, as far as they can be parted, and at least."""

ROWS, BODIES = 400_000, 128 << 20
"""Exchanges, and bytes of captures whose bodies are, written by one task at most: each writes files of its
own."""
SHARE: Final = 4
"""Into how many parts of that, at most, what is there is parted so that no task waits for others."""

STEPS: Final = ("surveying", "reading flows", "gathering names", "writing tables")

Progress = Callable[[int, int, str], None]
"""Told which step begins: its number from 0, how many there are, and what it is."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What is written of a capture, and how its files are read."""

    name: str | None = None
    """What the capture is called; None: like its first file."""
    secrets: Sequence[bytes] = ()
    """Texts of key logs, in addition to those in the files."""
    size: int = SIZE
    """Bytes of files that a task reads."""
    bodies: Bodies | None = ELIDED
    """How bodies are written; None: `body` is null, and all takes far less."""
    also: Collection[str] = ()
    """Tables of `folders.ON_REQUEST`; packets want Spark. If one is not asked for, what there was of this
    capture goes."""


DEFAULTS: Final = TableOptions()


class Written(NamedTuple):
    """What was written."""

    capture: str
    """What it is called in the tables."""
    packets: int
    exchanges: int
    errors: int
    connections: int


def write(
    spark: SparkSession | None,
    captures: Sequence[Path],
    out: Path,
    options: TableOptions = DEFAULTS,
    *,
    progress: Progress | None = None,
    go_on: Callable[[], None] | None = None,
) -> Written:
    """Write what capture files hold into the tables in a folder. The files are read as one capture.

    The rows of this capture are replaced; those of others stay. If the run is killed, the tables are as they
    were, or the next run completes what was begun.

    Args:
        spark: None: all is done in this process, which has little to do.
        captures: the files.
        out: the folder.
        options: what is written, and how files are read.
        progress: called when a step begins.
        go_on: called often where all is done in this process: what it raises ends the run.

    Raises:
        OSError: a file can't be read or written.
        CaptureError: a file is no capture.
        ValueError: there is no file, or `out` is no plain path.
        TooMuch: without Spark there is too much for this process.
    """
    if not captures:
        raise ValueError("no capture files")
    folders.checked_path(out)
    step = iter(range(len(STEPS)))

    def begin() -> None:
        number = next(step)
        if progress is not None:
            progress(number, len(STEPS), STEPS[number])

    begin()
    paths = sorted_paths(captures)
    run = folders.begin(out)
    try:
        capture = options.name or folders.name_for(out, paths[0])
        plan = planned(spark, ranges(paths, options.size))
        plan.secrets += options.secrets
        begin()
        filed = _flows(spark, _bytes(paths), plan, run.folder, options, go_on)
        begin()
        facts, count = gather(said(filed), plan.section_groups), counts(filed)
        begin()
        made = CaptureRows(facts, capture, options.bodies).tables()
        chosen = [_asking(one, go_on) for one in made if one.kind is None or one.kind in count]
        files = write_tables(
            spark, parts(filed, _groups(spark, filed, options)), chosen, run.folder
        )
        lost = [] if options.bodies is None else lost_bodies(files, capture)
        errors = [*fault_rows(plan, capture), *lost, *forgotten_rows(facts, capture)]
        (run.folder / "exchanges").mkdir(exist_ok=True)
        _add(run.folder, "errors", errors)
        _add(run.folder, "inside", [])
        _add(run.folder, "connections", [])
        _add(run.folder, "notes", note_rows(plan, capture))
        _add(run.folder, "quality", [_quality(run.folder, capture, paths, plan)])
        if "packets" in options.also and spark is not None:
            columns = WRITTEN[1:]
            by_tasks(packets(spark, plan, columns), run.folder / "packets", columns)
        for table in folders.ON_REQUEST:
            if table not in options.also and folders.folder_of(out, table, capture).exists():
                (run.folder / table).mkdir()
        folders.finish(out, run, capture, str(paths[0].resolve()))
    except BaseException:
        folders.give_up(run)
        raise
    return Written(
        capture,
        plan.packets,
        count.get("exchange", 0),
        count.get("error", 0) + len(errors),
        count.get("connection", 0),
    )


def read(spark: SparkSession, out: Path, table: str) -> DataFrame:
    """Return a table of a folder, of all captures in it. Raises LookupError for an unknown table."""
    return spark.read.schema(ddl_of(table)).parquet(str(out / table))


def _flows(
    spark: SparkSession | None,
    size: int,
    plan: Plan,
    run: Path,
    options: TableOptions,
    go_on: Callable[[], None] | None,
) -> list[Filed]:
    """Write what the flows come to into files, of which the tables are made. size: bytes of the captures."""
    columns = EXCHANGES if options.bodies is None else ALL
    if spark is None:
        rows: DataFrame | Batches = segments_here(plan, go_on)
    else:
        shares = max(-(-size // LARGE), min(4 * parallelism(spark), -(-size // SMALL)))
        # payload is looked up in the files as long as they stay in the system's cache meanwhile
        rows = segment_rows(spark, plan, shares, carry=size > memory() // 4)
    names = tuple(column.name for column in columns)
    frames = "frames" in options.also
    return outcome_files(rows, plan, names, run / "_travelling", frames=frames, go_on=go_on)


def _groups(spark: SparkSession | None, filed: Sequence[Filed], options: TableOptions) -> int:
    """Return how many row groups of what travelled one task writes tables of."""
    # bodies are many times as large as all else
    most = ROWS // MOST if options.bodies is None else BODIES // BATCH_BYTES
    here = sum(one.groups for one in filed) // (1 if spark is None else parallelism(spark))
    return min(most, max(most // SHARE, here))


def _asking(table: Table, go_on: Callable[[], None] | None) -> Table:
    """Return a table that calls `go_on` before each of its batches."""
    if go_on is None:
        return table
    return table._replace(make=lambda batches: asking(table.make(batches), go_on))


def _quality(run: Path, capture: str, paths: Sequence[Path], plan: Plan) -> dict[str, Any]:
    what = Read(len(paths), _bytes(paths), plan.packets)
    files = list((run / "exchanges").rglob("*.parquet"))
    return quality_row(capture, what, sums(ds.dataset(run / "errors")), files)


def _bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _add(run: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Write a file of rows that the driver itself knows; one without rows only if there is no folder."""
    folder = run / table
    if rows or not folder.exists():
        folder.mkdir(exist_ok=True)
        write_rows(folder / "part-driver.parquet", batch(rows, filed_columns(table)))
