"""Captures as a data source of Spark: `spark.read.format("barnabas").load(paths)`, and as a stream.

     spark.dataSource.register(KafkaCapture)
     spark.read.format("barnabas").option("table", "errors").load("capture.pcapng")
     spark.readStream.format("barnabas").option("table", "files").load("folder")

Options: `table` (`exchanges`, the default, `packets`, `frames`, `errors`: unreadable regions of files,
`notes`, `files`), `bodies` (`full`: bytes over 4 KiB are whole in `body_json`). If `.schema(...)` is set,
only its columns are made.

Here one task reads the frames and exchanges of a capture sequentially, in memory bounded by the frames in
transit; `barnabas.pipeline.tables.tables` divides the connections among tasks. In a stream each file has a
task.

A stream reads a folder: new captures are those that no process writes any more (`closed_files`). Its offset
is the set of files that were read, so it continues where it ended. Each file is a separate capture.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from barnabas.captures.files.capture_folder import listing
from barnabas.captures.files.closed_files import closed_files
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.context import Context
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.event_rows import exchange_rows
from barnabas.pipeline.reading.facts import gather
from barnabas.pipeline.reading.packet_rows import (
    ALL_PACKETS,
    PACKETS,
    packet_rows,
)
from barnabas.pipeline.reading.paths import sorted_paths
from barnabas.pipeline.reading.share_outcomes import CaptureSettings, outcomes
from barnabas.pipeline.reading.side_tables import NOTES, fault_rows, note_rows
from barnabas.pipeline.rows.bodies import body_batch, json_array
from barnabas.pipeline.rows.columns import BODY_JSON, ERRORS, EXCHANGES, RAW, Column, ddl
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import FRAMES, frame_rows
from barnabas.specs.jsonform import BLOBS, Blob

FORMAT: Final = "barnabas"

FILES: Final = (
    Column("file", "string", "the capture file"),
    Column("bytes", "bigint", "its size"),
)
"""One row a file."""

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": (*EXCHANGES, BODY_JSON),
    "packets": PACKETS,
    "frames": FRAMES,
    "errors": ERRORS,
    "notes": NOTES,
    "files": FILES,
}

_OPTIONS: Final = frozenset(("path", "paths", "table", "bodies"))

_SIZE: Final = 64 << 20
"""Bytes of captures whose packets a task makes rows of."""
_ROWS: Final = 4000
"""Rows in a batch."""

_BODIES: Final = ("key", "version", "request_body", "response_body")
"""Columns from which the JSON text of bodies is made."""
_WITH_BODIES: Final = 200
"""Exchanges in a batch with bodies."""


class KafkaCapture(DataSource):
    """The data source; see the module.

    Raises:
        ValueError: An option is invalid.
        CaptureError: A file is no capture; see `plan`.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return FORMAT

    def schema(self) -> str:
        """Return all columns of the table, as DDL."""
        return ddl(TABLES[_table(self.options)])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader of files as one capture."""
        paths = [path for each in _paths(self.options) for path in listing(each).captures]
        return _Reader(_query(self.options, schema), paths)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """Return a reader of a folder to which files are added."""
        paths = _paths(self.options)
        if len(paths) != 1 or not paths[0].is_dir():
            raise ValueError("a stream of captures reads one folder")
        return _Stream(_query(self.options, schema), paths[0])


class _Query(NamedTuple):
    """The table to read, and how."""

    table: str
    columns: tuple[str, ...]
    blob: Blob
    """How bytes of bodies are written."""


def _partitions(query: _Query, paths: Sequence[Path]) -> list[InputPartition]:
    """Return the tasks that read a capture. The value of each is a function that yields batches."""
    captures = tuple(sorted_paths(paths))
    by_name = {column.name: column for column in TABLES[query.table]}
    columns = tuple(map(by_name.__getitem__, query.columns))
    if query.table == "packets":
        size = sum(path.stat().st_size for path in captures)
        count = -(-size // _SIZE) or 1
        return [
            InputPartition(partial(packet_rows, captures, query.columns, Share(number, count)))
            for number in range(count)
        ]
    if query.table == "exchanges":
        return [InputPartition(partial(_exchanges, captures, query.columns, query.blob))]
    if query.table == "frames":
        return [InputPartition(partial(_frames, captures, columns))]
    if query.table == "files":
        rows = [{"file": str(path), "bytes": path.stat().st_size} for path in paths]
    else:
        facts = gather(outcomes(CaptureSettings(captures, ()), ALL_PACKETS))
        make = fault_rows if query.table == "errors" else note_rows
        rows = make(facts, captures[0].name)
    return [InputPartition(partial(_batches, rows, columns))]


def _read(partition: InputPartition) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task. The table `errors` has a row for each damage."""
    with suppress(CaptureError):
        yield from partition.value()


def _batches(
    rows: Iterable[dict[str, Any]], columns: tuple[Column, ...], count: int = _ROWS
) -> Iterator[pa.RecordBatch]:
    """Yield rows in batches of `count`; damage to the capture ends the last batch."""
    remaining = _undamaged(rows)
    while batch_rows := list(islice(remaining, count)):
        yield batch(batch_rows, columns)


def _undamaged(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    with suppress(CaptureError):
        yield from rows


def _frames(captures: Sequence[Path], columns: tuple[Column, ...]) -> Iterator[pa.RecordBatch]:
    return _batches(frame_rows(CaptureReader(*captures), captures[0].name), columns)


def _exchanges(
    captures: Sequence[Path], names: Sequence[str], blob: Blob
) -> Iterator[pa.RecordBatch]:
    bodies = BODY_JSON.name in names
    selected = {*names, *(_BODIES if bodies else ())}
    columns = tuple(column for column in (*EXCHANGES, *RAW) if column.name in selected)
    context = Context()
    all_rows = exchange_rows(
        CaptureReader(*captures),
        context,
        tuple(column.name for column in columns),
        captures[0].name,
    )
    for rows in _batches(all_rows, columns, _WITH_BODIES if bodies else _ROWS):
        texts = json_array(body_batch(rows, context.topics, blob)) if bodies else None
        whole = rows if texts is None else rows.append_column(BODY_JSON.name, texts)
        yield whole.select(list(names))


class _Reader(DataSourceReader):
    def __init__(self, query: _Query, paths: list[Path]) -> None:
        self._query, self._paths = query, paths

    def partitions(self) -> Sequence[InputPartition]:
        """Return the tasks."""
        return _partitions(self._query, self._paths)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a task."""
        return _read(partition)


class _Stream(DataSourceStreamReader):
    def __init__(self, query: _Query, folder: Path) -> None:
        self._query, self._folder = query, folder

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 Spark's name
        """Return the offset before any file."""
        return {"files": []}

    def latestOffset(self, *_: object) -> dict[str, Any]:  # noqa: N802 Spark's name
        """Return the offset after all files that are closed by now."""
        return {"files": [file.identity for file in closed_files(self._folder)]}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return tasks for the files between two offsets."""
        read_before = set(start["files"])
        new = set(end["files"]) - read_before
        return [
            part
            for file in closed_files(self._folder)
            # streams begun by an earlier version have names of files as offsets
            if file.identity in new and file.path.name not in read_before
            for part in _partitions(self._query, [file.path])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a task."""
        return _read(partition)


def _table(options: Any) -> str:
    if unknown := sorted(set(options) - _OPTIONS):
        raise ValueError(f"no option {unknown[0]!r}: one of {', '.join(sorted(_OPTIONS))}")
    table = options.get("table", "exchanges")
    if table not in TABLES:
        raise ValueError(f"no table {table!r}: one of {', '.join(TABLES)}")
    return str(table)


def _paths(options: Any) -> list[Path]:
    paths = [options["path"]] if "path" in options else json.loads(options.get("paths", "[]"))
    if not paths:
        raise ValueError("load() needs the path of a capture, or a list of them")
    # Spark may have added a scheme
    return [Path(re.sub("^file:(//(?=/))?", "", path)) for path in paths]


def _query(options: Any, schema: StructType) -> _Query:
    table, blob = _table(options), options.get("bodies", "elided")
    if blob not in BLOBS:
        raise ValueError(f"bodies {blob!r}: one of {', '.join(BLOBS)}")
    return _Query(table, tuple(schema.names), BLOBS[blob])
