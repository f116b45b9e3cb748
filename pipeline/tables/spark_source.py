"""Captures as a data source of Spark: `spark.read.format("barnabas").load(paths)`, and as a stream.

     spark.dataSource.register(KafkaCapture)
     spark.read.format("barnabas").option("table", "errors").load("capture.pcapng")
     spark.readStream.format("barnabas").option("table", "files").load("folder")

Options: `table` (`exchanges`, the default, `packets`, `frames`, `errors`: unreadable regions of files,
`notes`, `files`), `size` (bytes of packets for each task), `bodies` (`full`: bytes over 4 KiB are whole in
`body_json`), `pushdown` (`true`: conditions on number, ts_ns and size are checked before a row is made; this
needs spark.sql.python.filterPushdown.enabled). If `.schema(...)` is set, only its columns are made.

Here one task reads the frames and exchanges of a capture sequentially, in memory bounded by the frames in
transit; `barnabas.pipeline.tables.tables` divides the connections among tasks. In a stream each file has a
task.

A stream reads a folder: new captures are those that no process writes any more (`closed_files`). Its offset
is the set of files that were read, so it continues where it ended. Each file is a separate capture.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
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
    COMPARED,
    OPERATORS,
    PACKETS,
    Comparison,
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

_OPTIONS: Final = frozenset(("path", "paths", "table", "size", "bodies", "pushdown"))

SIZE: Final = 64 << 20
"""The default for the bytes of captures whose packets a task makes rows of."""
_ROWS: Final = 4000
"""Frames in a batch."""

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
        read = _Filtering if self.options.get("pushdown", "false") == "true" else _Reader
        paths = [path for each in _paths(self.options) for path in listing(each).captures]
        return read(_read_options(self.options, schema), paths)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """Return a reader of a folder to which files are added."""
        paths = _paths(self.options)
        if len(paths) != 1 or not paths[0].is_dir():
            raise ValueError("a stream of captures reads one folder")
        return _Stream(_read_options(self.options, schema), paths[0])


class _ReadOptions(NamedTuple):
    """The table to read, and how."""

    table: str
    size: int
    """Bytes of files that a task reads."""
    names: tuple[str, ...]
    """The columns."""
    blob: Blob
    """How bytes of bodies are written."""


def _read_options(options: Any, schema: StructType) -> _ReadOptions:
    return _ReadOptions(_table(options), _size(options), tuple(schema.names), _blob(options))


class _Part(InputPartition):
    """The input of one task."""

    def __init__(
        self,
        captures: Sequence[Path] = (),
        share: Share | None = None,
        rows: Sequence[dict[str, Any]] = (),
    ) -> None:
        super().__init__(None)
        self.captures = captures
        self.share = share
        self.rows = rows


def _parts(options: _ReadOptions, paths: Sequence[Path]) -> list[_Part]:
    """Return a capture's tasks."""
    table, captures = options.table, tuple(sorted_paths(paths))
    if table == "files":
        return [_Part(rows=[{"file": str(path), "bytes": path.stat().st_size} for path in paths])]
    if table == "packets":
        size = sum(path.stat().st_size for path in captures)
        readers = -(-size // options.size) or 1
        return [_Part(captures, share=Share(number, readers)) for number in range(readers)]
    if table in ("exchanges", "frames") or not captures:
        return [_Part(captures)]
    facts = gather(each for each in outcomes(CaptureSettings(captures, ()), ALL_PACKETS))
    make = fault_rows if table == "errors" else note_rows
    return [_Part(rows=make(facts, captures[0].name))]


def _read(
    options: _ReadOptions, part: _Part, conditions: Sequence[Comparison] = ()
) -> Iterator[pa.RecordBatch]:
    table, names = options.table, options.names
    if part.share is not None:
        with contextlib.suppress(CaptureError):
            yield from packet_rows(part.captures, names, conditions, part.share)
        return
    if table == "exchanges":
        yield from _exchanges(part.captures, names, options.blob)
        return
    by_name = {column.name: column for column in TABLES[table]}
    columns = tuple(by_name[name] for name in names)
    rows: Iterable[dict[str, Any]] = part.rows
    if part.captures:
        rows = _undamaged(frame_rows(CaptureReader(*part.captures), part.captures[0].name))
    remaining = iter(rows)
    while batch_rows := list(itertools.islice(remaining, _ROWS)):
        yield batch(batch_rows, columns)


def _exchanges(
    captures: Sequence[Path], names: Sequence[str], blob: Blob
) -> Iterator[pa.RecordBatch]:
    if not captures:
        return
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
    remaining = _undamaged(all_rows)
    while batch_rows := list(itertools.islice(remaining, _WITH_BODIES if bodies else _ROWS)):
        rows = batch(batch_rows, columns)
        if bodies:
            texts = json_array(body_batch(rows, context.topics, blob))
            rows = rows.append_column(BODY_JSON.name, texts)
        yield rows.select(list(names))


def _undamaged(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield all rows of a capture; `errors` has a row for each damage."""
    with contextlib.suppress(CaptureError):
        yield from rows


class _Reader(DataSourceReader):
    def __init__(self, options: _ReadOptions, paths: list[Path]) -> None:
        self._options, self._paths = options, paths
        self._conditions: list[Comparison] = []

    def partitions(self) -> Sequence[InputPartition]:
        """Return a task for each piece."""
        return _parts(self._options, self._paths)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._options, partition, self._conditions)


class _Filtering(_Reader):
    """A reader that checks conditions. Spark rejects a reader with this method unless pushdown is enabled."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 Spark's name
        """Take the comparisons that are cheap to make, and yield the others, which Spark makes."""
        for each_filter in filters:
            attribute: tuple[str, ...] = getattr(each_filter, "attribute", ())
            value = getattr(each_filter, "value", None)
            kind = type(each_filter).__name__
            if (
                self._options.table == "packets"
                and kind in OPERATORS
                and len(attribute) == 1
                and attribute[0] in COMPARED
                and isinstance(value, int)
            ):
                self._conditions.append(Comparison(attribute[0], kind, value))
            else:
                yield each_filter


class _Stream(DataSourceStreamReader):
    def __init__(self, options: _ReadOptions, folder: Path) -> None:
        self._options, self._folder = options, folder

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
            for part in _parts(self._options, [file.path])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Return the rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._options, partition)


def _table(options: Any) -> str:
    if unknown := sorted(set(options) - _OPTIONS):
        raise ValueError(f"no option {unknown[0]!r}: one of {', '.join(sorted(_OPTIONS))}")
    table = options.get("table", "exchanges")
    if table not in TABLES:
        raise ValueError(f"no table {table!r}: one of {', '.join(TABLES)}")
    return str(table)


def _paths(options: Any) -> list[Path]:
    if "path" in options:
        return [Path(_plain(options["path"]))]
    paths = json.loads(options.get("paths", "[]"))
    if not paths:
        raise ValueError("load() needs the path of a capture, or a list of them")
    return [Path(_plain(path)) for path in paths]


def _plain(path: str) -> str:
    """Return a path without the prefix that Spark may have added."""
    return (
        path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
    )


def _blob(options: Any) -> Blob:
    name = options.get("bodies", "elided")
    if name not in BLOBS:
        raise ValueError(f"bodies {name!r}: one of {', '.join(BLOBS)}")
    return BLOBS[name]


def _size(options: Any) -> int:
    size = options.get("size", str(SIZE))
    if not size.isdigit() or int(size) < 1:
        raise ValueError(f"size {size!r} is not a number of bytes")
    return int(size)
