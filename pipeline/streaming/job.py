"""The tables of a capture that is still being written: a batch for each few files that were closed.

Spark's file source says which files came since the last batch (`arrivals.py`), and keeps in its checkpoint
which ones they were; the driver reads them one after the other (`following.py`), and tasks decode the bodies.
Rows are written exactly once: a batch that was cut short is done again, from the state that it began with.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.captures.files import private
from barnabas.pipeline.rows.bodies import Names
from barnabas.pipeline.rows.columns import ERRORS, EXCHANGES, RAW, Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.streaming.arrivals import Arrivals, arrived
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.following import closed
from barnabas.pipeline.streaming.incremental_reader import TableRow
from barnabas.pipeline.tables.decoded_bodies import ELIDED, Bodies
from barnabas.pipeline.tables.folders import ON_REQUEST
from barnabas.pipeline.tables.parquet import Filed, Table, parts, write_rows, write_tables
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, Written
from barnabas.pipeline.tables.quality import QUALITY, Read, quality_row, sums
from barnabas.pipeline.tables.schemas import FOLDERS, ORDER, TABLES
from barnabas.pipeline.tables.spark_stages import parallelism
from barnabas.pipeline.tables.variants import capture_of, lost_bodies

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

AT_ONCE: Final = 8
"""Segments of a batch at most, unless told otherwise."""

_EVERY: Final = "2 seconds"
"""How often the folder is looked at."""

_TABLES: Final[dict[str, tuple[Column, ...]]] = {
    **{table: columns for table, columns in TABLES.items() if table not in ON_REQUEST},
    "exchanges": (*EXCHANGES, *RAW),
}
"""The columns of each table, as rows come out of the reader."""
_FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark says of files; their content is not read."""
_ROWS: Final = 2000

Sink = Callable[["SparkSession", Path, int], None]
"""Given a folder with the tables of a batch, and its number, before that is over; once more if it is done
again."""


@dataclass(frozen=True)
class Job:
    """Writes what is captured into a folder to tables, as its files are closed.

    Paths are those of this machine.
    """

    spark: SparkSession
    folder: Path
    """The folder that is followed."""
    batches: Batches
    """Where the tables are."""
    bodies: Bodies = ELIDED
    """How bodies are written."""
    sinks: Sequence[Sink] = ()
    """Where each batch goes, in addition."""

    def start(
        self,
        arrivals: Arrivals | None = None,
        *,
        at_once: int = AT_ONCE,
        until_read: bool = False,
    ) -> StreamingQuery:
        """Begin where the run before ended, however that did.

        Args:
            arrivals: by whose `look` the caller finds the files that are closed later.
            at_once: segments of a batch at most.
            until_read: whether the query ends when all that is there is read; else it runs until it is
                stopped.

        Raises:
            OSError: a folder can't be read or made.
            ValueError: the run before was another version's.
        """
        self.batches.check()
        out = self.batches.out
        private.folder(out)
        arrivals = arrivals or Arrivals(self.folder.resolve(), out)
        arrivals.look()
        files = (
            self.spark.readStream.format("binaryFile")
            .schema(_FILES)
            .option("maxFilesPerTrigger", at_once)
            .option("maxFileAge", "36500d")
            .load(str(arrivals.notes))
            .select("path")
        )
        writer = files.writeStream.foreachBatch(self.batch)
        writer = writer.option("checkpointLocation", str(out / "_checkpoint"))
        if until_read:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=_EVERY).start()

    def batch(self, files: DataFrame, number: int) -> None:
        """Write a batch, from the segments that came."""
        batches, folder = self.batches, self.folder.resolve()
        if batches.over(number):
            return  # it was cut short behind its end
        paths = [Path(unquote(urlparse(row["path"]).path)) for row in files.collect()]
        state = batches.before(number)
        run = batches.begin(number)
        there, gone = arrived(paths, folder)
        read = _write(run, state.batch(there, partial(closed, folder), gone))
        names = {} if state.reader is None else dict(state.reader.context.topics)
        written = self._write_exchanges(run, names)
        _write_quality(run, read, written)
        for sink in self.sinks:
            sink(self.spark, run, number)
        batches.install(run, number, _TABLES)
        batches.finish(run, number, state)
        with contextlib.suppress(OSError):  # then there are more files than need be
            batches.compact(self._filed(), {"exchanges": ORDER})

    def _write_exchanges(self, run: Path, names: Names) -> list[Written]:
        """Write exchanges with the bodies decoded: the files."""
        bodies, schema = self.bodies, self._schema

        def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for one in batches:
                yield bodies.decoded(one, names, schema)

        raw = run / "_raw" / "part-0.parquet"
        filed = Filed(str(raw), pq.read_metadata(raw).num_row_groups)
        table = Table("exchanges", None, schema, None, decode, FOLDERS, ORDER)
        shares = parts([filed], -(-filed.groups // parallelism(self.spark)) or 1)
        written = write_tables(self.spark, shares, [table], run)
        lost = lost_bodies(written)
        if lost:
            write_rows(run / "errors" / "part-lost.parquet", batch(lost, ERRORS))
        return written

    @property
    def _schema(self) -> pa.Schema:
        return self.bodies.schema(arrow(EXCHANGES))

    def _filed(self) -> dict[str, pa.Schema]:
        """Return what is in the files of each table: columns that folders are named by are not."""
        whole = self._schema
        inner = pa.schema([one for one in whole if one.name not in FOLDERS], whole.metadata)
        return {**{table: arrow(columns) for table, columns in _TABLES.items()}, "exchanges": inner}


def _write(run: Path, found: Iterable[TableRow]) -> dict[str, Read]:
    """Rows as they come, a file for each table; exchanges with their bytes. What was read, by captures."""
    tables = {table: columns for table, columns in _TABLES.items() if table != "quality"}
    rows: dict[str, list[dict[str, object]]] = {table: [] for table in tables}
    read: dict[str, Read] = {}
    writers = {}
    for table, columns in tables.items():
        place = run / ("_raw" if table == "exchanges" else table)
        place.mkdir()
        path = place / "part-0.parquet"
        writers[table] = pq.ParquetWriter(path, arrow(columns), compression=ZSTD)
    try:
        for one in found:
            if one.table == "quality":
                capture, *counts = one.row.values()
                before = read.get(capture, Read(0, 0, 0))
                read[capture] = Read(*map(sum, zip(before, counts, strict=True)))
                continue
            rows[one.table].append(one.row)
            if len(rows[one.table]) == _ROWS:
                _flush(writers[one.table], rows[one.table], tables[one.table])
        for table, columns in tables.items():
            _flush(writers[table], rows[table], columns)
    finally:
        for writer in writers.values():
            writer.close()
    return read


def _flush(
    writer: pq.ParquetWriter, rows: list[dict[str, object]], columns: tuple[Column, ...]
) -> None:
    if rows:
        writer.write_batch(batch(rows, columns))
        rows.clear()


def _write_quality(run: Path, read: dict[str, Read], written: list[Written]) -> None:
    """A row for each capture that something was read of, or said."""
    errors = defaultdict(list)
    for row in sums(ds.dataset(run / "errors")):
        errors[row["capture"]].append(row)
    files = defaultdict(list)
    for one in written:
        files[capture_of(one.path)].append(one.path)
    rows = [
        quality_row(name, read.get(name, Read(0, 0, 0)), errors[name], files[name])
        for name in sorted({*read, *errors, *files})
    ]
    place = run / "quality"
    place.mkdir()
    write_rows(place / "part-0.parquet", batch(rows, QUALITY))
