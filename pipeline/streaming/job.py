"""The streaming job: the tables of a growing capture, one batch for every few files that were closed.

A note names the files of a batch (`arrivals.py`). The driver reads them one after another (`following.py`),
and tasks decode the bodies. Rows are written exactly once: an interrupted batch is repeated from the state
before it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.pipeline.rows.bodies import Names
from barnabas.pipeline.rows.columns import ERRORS, EXCHANGES, RAW, Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.streaming.arrivals import Arrivals, NotedFiles
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.compaction import compact
from barnabas.pipeline.streaming.following import closed
from barnabas.pipeline.streaming.incremental_reader import TableRow
from barnabas.pipeline.tables.decoded_bodies import ELIDED, Bodies, capture_of, lost_bodies
from barnabas.pipeline.tables.folders import ON_REQUEST
from barnabas.pipeline.tables.parquet import (
    Part,
    Table,
    all_rows,
    parts,
    write_rows,
    write_tables,
)
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, WrittenFile
from barnabas.pipeline.tables.quality import QUALITY, ReadTotals, quality_row, sums
from barnabas.pipeline.tables.schemas import FOLDERS, ORDER, TABLES
from barnabas.pipeline.tables.spark_stages import parallelism
from barnabas.stop_signals import cancellable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLES: Final[dict[str, tuple[Column, ...]]] = {
    **{table: columns for table, columns in TABLES.items() if table not in ON_REQUEST},
    "exchanges": (*EXCHANGES, *RAW),
}
"""The columns of each table, as the reader yields rows."""
_ROWS: Final = 2000

Sink = Callable[[Path, int], None]
"""A function of a folder with the tables of a batch, and its number. It is called before the batch is
finished, and again if the batch is repeated."""


@dataclass(frozen=True)
class Job:
    """Writes the captures in a folder to tables, as their files are closed.

    Paths are on this machine.
    """

    spark: SparkSession | None
    """None: everything is done in this process."""
    folder: Path
    """The folder to follow."""
    batches: Batches
    """The folder of the tables."""
    bodies: Bodies = ELIDED
    """How bodies are written."""
    sinks: Sequence[Sink] = ()
    """Further destinations of each batch."""
    go_on: Callable[[], None] | None = None
    """Called before each row is read: an exception from it interrupts the batch."""

    def run(self, arrivals: Arrivals) -> None:
        """Write the batches of all notes that have none. Raises OSError, ValueError."""
        self.batches.check()
        while (files := arrivals.batch(self.batches.count)) is not None:
            self.batch(files, self.batches.count)

    def batch(self, files: NotedFiles, number: int) -> None:
        """Write a batch from complete files. Raises OSError."""
        batches, folder = self.batches, self.folder.resolve()
        state = batches.before(number)
        run = batches.begin(number)
        rows = state.batch(files.paths, partial(closed, folder), files.gone)
        read = _write(run, cancellable(rows, self.go_on))
        names = {} if state.reader is None else dict(state.reader.context.topics)
        written = self._write_exchanges(run, names)
        if lost := lost_bodies(written):
            write_rows(run / "errors" / "part-lost.parquet", batch(lost, ERRORS))
        _write_quality(run, read, written)
        for sink in self.sinks:
            sink(run, number)
        batches.install(run, number, _TABLES)
        batches.finish(run, number, state)
        with suppress(OSError):  # without it there are only more files
            compact(batches.out, run.with_name("compaction"), self._schemas)

    def _write_exchanges(self, run: Path, names: Names) -> list[WrittenFile]:
        """Write exchanges with decoded bodies, and return the files."""
        bodies, schema = self.bodies, self._schema

        def decoded(part: Part) -> Iterator[pa.RecordBatch]:
            for rows in all_rows(part):
                yield bodies.decoded(rows, names, schema)

        raw = ds.dataset(run / "_raw")
        tasks = 1 if self.spark is None else parallelism(self.spark)
        groups = sum(file.num_row_groups for file in raw.get_fragments())
        table = Table("exchanges", schema, decoded, FOLDERS, ORDER)
        return write_tables(self.spark, parts(raw, -(-groups // tasks) or 1), [table], run)

    @property
    def _schema(self) -> pa.Schema:
        return self.bodies.schema(arrow(EXCHANGES))

    @property
    def _schemas(self) -> dict[str, pa.Schema]:
        """Return the schema of each table."""
        sides = {table: arrow(columns) for table, columns in _TABLES.items()}
        return {**sides, "exchanges": self._schema}


def _write(run: Path, all_rows: Iterable[TableRow]) -> dict[str, Counter[str]]:
    """Write rows to a file for each table; return the amounts that were read, by capture.

    Exchanges are written with their raw bodies.
    """
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    read: dict[str, Counter[str]] = defaultdict(Counter)
    with ExitStack() as stack:
        writers = {}
        for table, columns in _TABLES.items():
            if table != "quality":
                file = run / ("_raw" if table == "exchanges" else table) / "part-0.parquet"
                file.parent.mkdir()
                writer = pq.ParquetWriter(file, arrow(columns), compression=ZSTD)
                writers[table] = stack.enter_context(writer)

        def flush(table: str) -> None:
            writers[table].write_batch(batch(rows.pop(table), _TABLES[table]))

        for table, row in all_rows:
            if table == "quality":
                read[row.pop("capture")].update(row)
                continue
            rows[table].append(row)
            if len(rows[table]) == _ROWS:
                flush(table)
        for table in list(rows):
            flush(table)
    return read


def _write_quality(
    run: Path, read: Mapping[str, Counter[str]], written: Sequence[WrittenFile]
) -> None:
    """Write a row for each capture of which something was read or reported."""
    errors = defaultdict(list)
    for row in sums(ds.dataset(run / "errors")):
        errors[row["capture"]].append(row)
    files = defaultdict(list)
    for file in written:
        files[capture_of(file.path)].append(file.path)
    rows = []
    for name in sorted({*read, *errors, *files}):
        totals = ReadTotals(*(read[name][field] for field in ReadTotals._fields))
        rows.append(quality_row(name, totals, errors[name], files[name]))
    target = run / "quality"
    target.mkdir()
    write_rows(target / "part-0.parquet", batch(rows, QUALITY))
