"""Captures as a data source of Spark: `spark.read.format("barnabas").load(paths)`, and as a stream.

    spark.dataSource.register(KafkaCapture)
    spark.read.format("barnabas").option("table", "errors").load("capture.pcapng")
    spark.readStream.format("barnabas").option("table", "files").load("folder")

Options: table (`exchanges`, which is what there is without it, `packets`, `frames`, `errors`: regions of
files that can't be read, `notes`, `files`), size (bytes that a task reads), bodies (`full`: bytes over 4 KiB
are whole in `body_json`), pushdown (`true`: conditions on number, ts_ns and size are met before a row is
made, which wants spark.sql.python.filterPushdown.enabled). If `.schema(...)` is given, only its columns are
made.
Frames and exchanges need all packets of a connection in one place, which no data source can bring about:
`barnabas.pipeline.tables.tables` does. Here one task reads those of a capture, one after the other as the
pure reader does, in the memory of what is under way, as far as the first damage; of a stream each file has a
task.

A stream reads a folder: what is new are captures that nobody writes any more (`closed_files`). Its offset is
which files were read, so it goes on where it ended. Each file is a capture of its own to it.
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
from barnabas.pipeline.reading.event_rows import exchange_rows
from barnabas.pipeline.reading.file_order import sorted_paths
from barnabas.pipeline.reading.packet_rows import (
    COMPARED,
    OPERATORS,
    PACKETS,
    Comparison,
    packet_rows,
)
from barnabas.pipeline.reading.plan import Piece, Plan
from barnabas.pipeline.reading.planning import plan
from barnabas.pipeline.reading.ranges import SIZE, ranges
from barnabas.pipeline.reading.side_tables import NOTES, fault_rows, note_rows
from barnabas.pipeline.reading.survey import survey
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

_ROWS: Final = 4000
"""Of frames, in a batch."""

_BODIES: Final = ("key", "version", "request_body", "response_body")
"""What JSON text of bodies is made of."""
_WITH_BODIES: Final = 200
"""Rows of exchanges in a batch then."""


class KafkaCapture(DataSource):
    """See the module. Raises ValueError for options that mean nothing, and what `plan` raises."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return FORMAT

    def schema(self) -> str:
        """All columns of the table, as DDL."""
        return ddl(TABLES[_table(self.options)])

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads files as one capture."""
        read = _Filtering if self.options.get("pushdown", "false") == "true" else _Reader
        paths = [path for each in _paths(self.options) for path in listing(each).captures]
        return read(_wanted(self.options, schema), paths)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """Reads a folder to which files are added."""
        paths = _paths(self.options)
        if len(paths) != 1 or not paths[0].is_dir():
            raise ValueError("a stream of captures reads one folder")
        return _Stream(_wanted(self.options, schema), paths[0])


class _Wanted(NamedTuple):
    """What is read of captures."""

    table: str
    size: int
    """Bytes of files that a task reads."""
    names: tuple[str, ...]
    """The columns."""
    blob: Blob
    """How bytes of bodies are written."""


def _wanted(options: Any, schema: StructType) -> _Wanted:
    return _Wanted(_table(options), _size(options), tuple(schema.names), _blob(options))


class _Part(InputPartition):
    """What one task reads."""

    def __init__(
        self,
        piece: Piece | None = None,
        rows: Sequence[dict[str, Any]] = (),
        captures: Sequence[Path] = (),
    ) -> None:
        super().__init__(None)
        self.piece = piece
        self.rows = rows
        self.captures = captures


def _parts(wanted: _Wanted, paths: Sequence[Path]) -> list[_Part]:
    """A capture's tasks."""
    table = wanted.table
    if table == "files":
        return [_Part(rows=[{"file": str(path), "bytes": path.stat().st_size} for path in paths])]
    if table in ("exchanges", "frames"):
        return [_Part(captures=sorted_paths(paths))]
    made = _planned(paths, wanted.size)
    if table == "packets":
        return [_Part(piece) for piece in made.pieces] or [_Part()]
    capture = sorted_paths(paths)[0].name if paths else ""
    make = fault_rows if table == "errors" else note_rows
    return [_Part(rows=make(made, capture))]


def _planned(paths: Sequence[Path], size: int) -> Plan:
    return plan(ranges(sorted_paths(paths), size), lambda found: [survey(one) for one in found])


def _read(
    wanted: _Wanted, part: _Part, conditions: Sequence[Comparison] = ()
) -> Iterator[pa.RecordBatch]:
    table, names = wanted.table, wanted.names
    if part.piece is not None:
        yield from packet_rows(part.piece, names, conditions)
        return
    if table == "exchanges":
        yield from _exchanges(part.captures, names, wanted.blob)
        return
    by_name = {column.name: column for column in TABLES[table]}
    columns = tuple(by_name[name] for name in names)
    rows: Iterable[dict[str, Any]] = part.rows
    if part.captures:
        rows = _undamaged(frame_rows(CaptureReader(*part.captures), part.captures[0].name))
    coming = iter(rows)
    while some := list(itertools.islice(coming, _ROWS)):
        yield batch(some, columns)


def _exchanges(
    captures: Sequence[Path], names: Sequence[str], blob: Blob
) -> Iterator[pa.RecordBatch]:
    if not captures:
        return
    bodies = BODY_JSON.name in names
    wanted = {*names, *(_BODIES if bodies else ())}
    columns = tuple(one for one in (*EXCHANGES, *RAW) if one.name in wanted)
    context = Context()
    made = exchange_rows(
        CaptureReader(*captures), context, tuple(one.name for one in columns), captures[0].name
    )
    coming = _undamaged(made)
    while some := list(itertools.islice(coming, _WITH_BODIES if bodies else _ROWS)):
        found = batch(some, columns)
        if bodies:
            texts = json_array(body_batch(found, context.topics, blob))
            found = found.append_column(BODY_JSON.name, texts)
        yield found.select(list(names))


def _undamaged(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Those before the first damage: of that, `errors` has a row."""
    with contextlib.suppress(CaptureError):
        yield from rows


class _Reader(DataSourceReader):
    def __init__(self, wanted: _Wanted, paths: list[Path]) -> None:
        self._wanted, self._paths = wanted, paths
        self._conditions: list[Comparison] = []

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each piece."""
        return _parts(self._wanted, self._paths)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._wanted, partition, self._conditions)


class _Filtering(_Reader):
    """The same. Spark refuses a reader with this method unless it is told to use it."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 Spark's name
        """Takes the comparisons that are quickly made; Spark does the others."""
        for one in filters:
            attribute: tuple[str, ...] = getattr(one, "attribute", ())
            value = getattr(one, "value", None)
            kind = type(one).__name__
            if (
                self._wanted.table == "packets"
                and kind in OPERATORS
                and len(attribute) == 1
                and attribute[0] in COMPARED
                and isinstance(value, int)
            ):
                self._conditions.append(Comparison(attribute[0], kind, value))
            else:
                yield one


class _Stream(DataSourceStreamReader):
    def __init__(self, wanted: _Wanted, folder: Path) -> None:
        self._wanted, self._folder = wanted, folder

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 Spark's name
        """No file was read."""
        return {"files": []}

    def latestOffset(self, *_: object) -> dict[str, Any]:  # noqa: N802 Spark's name
        """All files that are closed by now."""
        return {"files": [file.identity for file in closed_files(self._folder)]}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Tasks for the files that came in between."""
        known = set(start["files"])
        new = set(end["files"]) - known
        return [
            part
            for file in closed_files(self._folder)
            # a stream that an earlier version began knows files by their names
            if file.identity in new and file.path.name not in known
            for part in _parts(self._wanted, [file.path])
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._wanted, partition)


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
    """A path as Spark may have written it."""
    return (
        path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
    )


def _blob(options: Any) -> Blob:
    wanted = options.get("bodies", "elided")
    if wanted not in BLOBS:
        raise ValueError(f"bodies {wanted!r}: one of {', '.join(BLOBS)}")
    return BLOBS[wanted]


def _size(options: Any) -> int:
    size = options.get("size", str(SIZE))
    if not size.isdigit() or int(size) < 1:
        raise ValueError(f"size {size!r} is no number of bytes")
    return int(size)
