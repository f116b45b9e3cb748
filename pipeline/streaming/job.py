"""The tables of a capture that is still being written: a batch for each few files that were closed.

Spark's file source says which files came since the last batch (`arrivals.py`), and keeps in its checkpoint
which ones they were; the driver reads them one after the other (`following.py`), and tasks decode the bodies.
Rows are written exactly once: a batch that was cut short is done again, from the state that it began with.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.captures.files import private
from barnabas.pipeline.reading.side_tables import CONNECTIONS, NOTES
from barnabas.pipeline.rows.bodies import Names
from barnabas.pipeline.rows.columns import ERRORS, EXCHANGES, RAW, Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.inside import INSIDE
from barnabas.pipeline.streaming.arrivals import Arrivals, arrived
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.following import closed
from barnabas.pipeline.streaming.incremental_reader import TableRow
from barnabas.pipeline.tables.parquet import Filed, Table, parts, write_tables
from barnabas.pipeline.tables.partitioned_parquet import ZSTD, Written
from barnabas.pipeline.tables.quality import QUALITY, Read, quality_row, sums
from barnabas.pipeline.tables.spark_stages import parallelism
from barnabas.pipeline.tables.tables import FOLDERS, ORDER, decoded, with_bodies
from barnabas.pipeline.tables.variants import capture_of, lost_bodies
from barnabas.specs.jsonform import Blob, elided

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

AT_ONCE: Final = 8
"""Segments of a batch at most, unless told otherwise."""

_TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": (*EXCHANGES, *RAW),
    "inside": INSIDE,
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
    "quality": QUALITY,
}
_FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark says of files; their content is not read."""
_ROWS: Final = 2000

Sink = Callable[["SparkSession", Path, int], None]
"""Given a folder with the tables of a batch, and its number, before that is over; once more if it is done
again."""


def follow(
    spark: SparkSession,
    folder: Path,
    batches: Batches,
    *,
    at_once: int = AT_ONCE,
    every: str = "2 seconds",
    until_read: bool = False,
    json_bodies: bool = False,
    blob: Blob = elided,
    sinks: Sequence[Sink] = (),
    arrivals: Arrivals | None = None,
) -> StreamingQuery:
    """Begin to write what is captured into `folder` to tables, as its files are closed.

    It goes on where the run before ended, however that did. The query runs until it is stopped;
    with `until_read` it ends when all that is there is read. every: how often the folder is looked at.
    json_bodies: whether bodies are also written as JSON text. blob: how bytes in them are written. sinks:
    where each batch goes, too. arrivals: by whose `look` the caller finds the files that are closed later.
    Paths are those of this machine. Raises OSError if a folder can't be read or made, ValueError if the run
    before was another version's.
    """
    batches.check()
    folder, out = folder.resolve(), batches.out
    private.folder(out)
    arrivals = arrivals or Arrivals(folder, out)
    arrivals.look()
    whole = with_bodies(arrow(EXCHANGES), json_bodies=json_bodies)
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("maxFilesPerTrigger", at_once)
        .option("maxFileAge", "36500d")
        .load(str(arrivals.notes))
        .select("path")
    )
    writer = files.writeStream.foreachBatch(
        partial(_batch, spark, folder, batches, whole, blob=blob, sinks=sinks)
    )
    writer = writer.option("checkpointLocation", str(out / "_checkpoint"))
    writer = (
        writer.trigger(availableNow=True) if until_read else writer.trigger(processingTime=every)
    )
    return writer.start()


def _batch(
    spark: SparkSession,
    folder: Path,
    batches: Batches,
    whole: pa.Schema,
    files: DataFrame,
    number: int,
    *,
    blob: Blob = elided,
    sinks: Sequence[Sink] = (),
) -> None:
    """A batch, from the segments that came. whole: the columns of exchanges."""
    if batches.over(number):
        return  # it was cut short behind its end
    paths = [Path(unquote(urlparse(row["path"]).path)) for row in files.collect()]
    state = batches.before(number)
    run = batches.begin(number)
    there, gone = arrived(paths, folder)
    read = _write(run, state.batch(there, partial(closed, folder), gone))
    names = {} if state.reader is None else dict(state.reader.context.topics)
    written = _write_exchanges(spark, run, names, whole, blob)
    _write_quality(run, read, written)
    for sink in sinks:
        sink(spark, run, number)
    batches.install(run, number, _TABLES)
    batches.finish(run, number, state)
    with contextlib.suppress(OSError):  # then there are more files than need be
        batches.compact(_filed(whole), {"exchanges": ORDER})


def _filed(whole: pa.Schema) -> dict[str, pa.Schema]:
    """What is in the files of the tables: what folders are called by is not."""
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


def _write_exchanges(
    spark: SparkSession, run: Path, names: Names, whole: pa.Schema, blob: Blob
) -> list[Written]:
    """The table with the bodies decoded: its files."""
    columns = [column.name for column in EXCHANGES]

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            yield decoded(one, columns, names, whole, blob)

    raw = run / "_raw" / "part-0.parquet"
    filed = Filed(str(raw), pq.read_metadata(raw).num_row_groups)
    table = Table("exchanges", None, whole, None, decode, FOLDERS, ORDER)
    shares = parts([filed], -(-filed.groups // parallelism(spark)) or 1)
    written = write_tables(spark, shares, [table], run)
    lost = lost_bodies(written)
    if lost:
        rows = pa.Table.from_batches([batch(lost, ERRORS)])
        pq.write_table(rows, run / "errors" / "part-lost.parquet", compression=ZSTD)
    return written


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
    table = pa.Table.from_batches([batch(rows, QUALITY)])
    pq.write_table(table, place / "part-0.parquet", compression=ZSTD)
