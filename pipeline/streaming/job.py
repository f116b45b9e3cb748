"""The tables of a capture that is still being written: a batch for each few segments that were closed.

Spark's file source says which segments came since the last batch, and keeps in its checkpoint which ones
they were; the driver reads them one after the other (`following.py`), and tasks decode the bodies. Rows
are written exactly once: a batch that was cut short is done again, from the state that it began with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.captures.files import private
from barnabas.pipeline.reading.side_tables import CONNECTIONS, NOTES
from barnabas.pipeline.rows.bodies import BODY, Names, body_batch
from barnabas.pipeline.rows.columns import ERRORS, EXCHANGES, RAW, Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.following import closed
from barnabas.pipeline.streaming.incremental_reader import TableRow
from barnabas.pipeline.tables.parquet import Filed, Table, parts, write_tables
from barnabas.pipeline.tables.variants import lost_bodies

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

AT_ONCE: Final = 8
"""Segments of a batch at most, unless told otherwise."""

FOLDERS: Final = ("capture", "day", "api")

_TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": (*EXCHANGES, *RAW),
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
}
_FILES: Final = "path string, modificationTime timestamp, length bigint, content binary"
"""What Spark says of files; their content is not read."""
_ROWS: Final = 2000


def follow(
    spark: SparkSession,
    folder: Path,
    batches: Batches,
    *,
    at_once: int = AT_ONCE,
    every: str = "2 seconds",
    until_read: bool = False,
) -> StreamingQuery:
    """Begin to write what a proxy captures into `folder` to tables, as segments are closed.

    It goes on where the run before ended, however that did. The query runs until it is stopped;
    with `until_read` it ends when all that is there is read. every: how often the folder is looked at.
    Paths are those of this machine. Raises OSError if a folder can't be read or made.
    """
    folder, out = folder.resolve(), batches.out
    sorted(folder.iterdir())  # Spark would wait for one that is not there
    private.folder(out)
    files = (
        spark.readStream.format("binaryFile")
        .schema(_FILES)
        .option("pathGlobFilter", "*.pcapng")
        .option("maxFilesPerTrigger", at_once)
        .option("maxFileAge", "36500d")
        .load(str(folder))
        .select("path")
    )
    writer = files.writeStream.foreachBatch(partial(_batch, spark, folder, batches))
    writer = writer.option("checkpointLocation", str(out / "_checkpoint"))
    writer = (
        writer.trigger(availableNow=True) if until_read else writer.trigger(processingTime=every)
    )
    return writer.start()


def _batch(
    spark: SparkSession, folder: Path, batches: Batches, files: DataFrame, number: int
) -> None:
    """A batch, from the segments that came."""
    if batches.over(number):
        return  # it was cut short behind its end
    paths = [Path(unquote(urlparse(row["path"]).path)) for row in files.collect()]
    state = batches.before(number)
    run = batches.begin(number)
    there = [path for path in sorted(paths) if path.exists()]
    _write(run, state.batch(there, partial(closed, folder)))
    names = {} if state.reader is None else dict(state.reader.context.topics)
    _write_exchanges(spark, run, names)
    batches.install(run, number, _TABLES)
    batches.finish(run, number, state)


def _write(run: Path, found: Iterable[TableRow]) -> None:
    """Rows as they come, a file for each table; exchanges with their bytes."""
    rows: dict[str, list[dict[str, object]]] = {table: [] for table in _TABLES}
    writers = {}
    for table, columns in _TABLES.items():
        place = run / ("_raw" if table == "exchanges" else table)
        place.mkdir()
        writers[table] = pq.ParquetWriter(place / "part-0.parquet", arrow(columns))
    try:
        for one in found:
            rows[one.table].append(one.row)
            if len(rows[one.table]) == _ROWS:
                _flush(writers[one.table], rows[one.table], _TABLES[one.table])
        for table, columns in _TABLES.items():
            _flush(writers[table], rows[table], columns)
    finally:
        for writer in writers.values():
            writer.close()


def _flush(
    writer: pq.ParquetWriter, rows: list[dict[str, object]], columns: tuple[Column, ...]
) -> None:
    if rows:
        writer.write_batch(batch(rows, columns))
        rows.clear()


def _write_exchanges(spark: SparkSession, run: Path, names: Names) -> None:
    """The table with the bodies decoded."""
    schema = arrow(EXCHANGES).append(pa.field("body", BODY))

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            columns = [one[column.name] for column in EXCHANGES]
            columns.append(body_batch(one, names))
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    raw = run / "_raw" / "part-0.parquet"
    filed = Filed(str(raw), pq.read_metadata(raw).num_row_groups)
    table = Table("exchanges", None, schema, None, decode, FOLDERS)
    lost = lost_bodies(write_tables(spark, parts([filed], 1), [table], run))
    if lost:
        rows = pa.Table.from_batches([batch(lost, ERRORS)])
        pq.write_table(rows, run / "errors" / "part-lost.parquet")
