"""Writes the tables of capture files as Parquet, for Spark and other readers.

Exchanges are in folders by capture and day, sorted by api and time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow.dataset as ds

from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.facts import gather
from barnabas.pipeline.reading.outcomes import ALL
from barnabas.pipeline.reading.paths import sorted_paths
from barnabas.pipeline.reading.share_outcomes import CaptureSettings
from barnabas.pipeline.reading.side_tables import fault_rows, note_rows, skipped_rows
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables import folders
from barnabas.pipeline.tables.capture_rows import CaptureRows
from barnabas.pipeline.tables.decoded_bodies import ELIDED, Bodies, lost_bodies
from barnabas.pipeline.tables.parquet import parts, write_rows, write_tables
from barnabas.pipeline.tables.quality import ReadTotals, quality_row, sums
from barnabas.pipeline.tables.schemas import ddl_of, filed_columns
from barnabas.pipeline.tables.spark_stages import (
    BATCH_BYTES,
    MOST,
    counts,
    fact_outcomes,
    outcome_files,
    packets_table,
    parallelism,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL: Final = 4 << 20
"""Bytes of captures for each reader, at least."""
READERS: Final = 16
"""The most readers of a capture: each passes over all packets, and reads those of its share."""

ROWS, BODIES = 400_000, 128 << 20
"""The most exchanges, and bytes of captures with bodies, that one task writes; each task writes its own
files."""
SHARE: Final = 4
"""The most parts into which that amount is split so that no task waits for others."""

STEPS: Final = ("reading connections", "gathering names", "writing tables")

Progress = Callable[[int, int, str], None]
"""Called when a step begins: its number from 0, the number of steps, and its name."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options for writing a capture's tables and reading its files."""

    secrets: Sequence[bytes] = ()
    """Key logs, in addition to those in the files."""
    bodies: Bodies | None = ELIDED
    """How bodies are written; None: `body` is null, and everything takes far less time and space."""
    skipped: Mapping[Path, str] = field(default_factory=dict)
    """Files that were left out, since they are no captures, with the reasons: `errors` has them."""
    also: Collection[str] = ()
    """Tables of `folders.ON_REQUEST`. Earlier tables of this capture that are not requested are removed."""


DEFAULTS: Final = TableOptions()


class TableCounts(NamedTuple):
    """The numbers of rows that were written."""

    capture: str
    """Its name in the tables."""
    packets: int
    exchanges: int


def write(
    spark: SparkSession | None,
    captures: Sequence[Path],
    out: Path,
    options: TableOptions = DEFAULTS,
    *,
    progress: Progress | None = None,
    go_on: Callable[[], None] | None = None,
) -> TableCounts:
    """Write the contents of capture files into the tables in a folder. The files are read as one capture.

    The rows of this capture are replaced; those of others stay. If the run is killed, the tables stay
    unchanged, or the next run completes the installation.

    Args:
        spark: None: everything is done in this process, for small captures.
        captures: The files.
        out: The folder.
        options: What is written, and how files are read.
        progress: Called when a step begins.
        go_on: Called often while this process does the work: an exception from it ends the run.

    Raises:
        OSError: A file can't be read or written.
        CaptureError: A file is no capture.
        ValueError: There is no file, or `out` is a pattern.
    """
    if not captures:
        raise ValueError("no capture files")
    folders.checked_path(out)
    steps = enumerate(STEPS)

    def begin_step() -> None:
        number, name = next(steps)
        if progress is not None:
            progress(number, len(STEPS), name)

    paths = sorted_paths(captures)
    size = sum(path.stat().st_size for path in paths)
    tasks = 1 if spark is None else parallelism(spark)
    readers = 1 if spark is None else min(tasks, READERS, -(-size // SMALL) or 1)
    shares = [Share(number, readers) for number in range(readers)]
    with folders.run(out) as run:
        capture = folders.name_for(out, paths[0])
        begin_step()
        outcomes = outcome_files(
            spark, _settings(paths, options), shares, run / "_travelling", go_on
        )
        begin_step()
        facts, count = gather(fact_outcomes(outcomes)), counts(outcomes)
        begin_step()
        tables = CaptureRows(facts, capture, options.bodies).tables(count)
        inputs = parts(outcomes, _groups_per_task(outcomes, tasks, options))
        files = write_tables(spark, inputs, tables, run, go_on)
        errors = [
            *fault_rows(facts, capture),
            *skipped_rows(options.skipped, capture),
            *lost_bodies(files, capture),
        ]
        (run / "exchanges").mkdir(exist_ok=True)
        _add(run, "errors", errors)
        _add(run, "inside", [])
        _add(run, "connections", [])
        _add(run, "notes", note_rows(facts, capture))
        exchanges = [*(run / "exchanges").rglob("*.parquet")]
        read = ReadTotals(len(paths), size, facts.packets)
        quality = quality_row(capture, read, sums(ds.dataset(run / "errors")), exchanges)
        _add(run, "quality", [quality])
        if "packets" in options.also:
            write_tables(spark, shares, [packets_table(paths)], run)
            _add(run, "packets", [])
        for table in folders.ON_REQUEST:
            if table not in options.also and folders.folder_of(out, table, capture).exists():
                (run / table).mkdir()
        folders.finish(out, run, capture, str(paths[0].resolve()))
    return TableCounts(capture, facts.packets, count["exchange"])


def read(spark: SparkSession, out: Path, table: str) -> DataFrame:
    """Return a table of a folder, with all captures in it. Raises LookupError for an unknown table."""
    return spark.read.schema(ddl_of(table)).parquet(str(out / table))


def _settings(paths: Sequence[Path], options: TableOptions) -> CaptureSettings:
    columns = tuple(column.name for column in (EXCHANGES if options.bodies is None else ALL))
    return CaptureSettings(paths, columns, options.secrets, frames="frames" in options.also)


def _groups_per_task(outcomes: ds.FileSystemDataset, tasks: int, options: TableOptions) -> int:
    """Return the number of row groups of outcomes from which one task writes tables."""
    # bodies are many times as large as all else
    most = ROWS // MOST if options.bodies is None else BODIES // BATCH_BYTES
    groups: int = sum(file.num_row_groups for file in outcomes.get_fragments())
    return min(most, max(most // SHARE, groups // tasks))


def _add(run: Path, table: str, rows: list[dict[str, Any]]) -> None:
    """Write a file of rows that the driver itself has; without rows, only if the table has no file."""
    folder = run / table
    folder.mkdir(exist_ok=True)
    if rows or not any(folder.iterdir()):
        write_rows(folder / "part-driver.parquet", batch(rows, filed_columns(table)))
