"""Captures as a data source of Spark: `spark.read.format("kafka-capture").load(paths)`, and as a stream.

    spark.dataSource.register(KafkaCapture)
    spark.read.format("kafka-capture").option("table", "errors").load("capture.pcapng")
    spark.readStream.format("kafka-capture").option("table", "files").load("folder")

Options: table (`packets`, `errors`: regions of files that can't be read, `notes`, `files`), size (bytes
that a task reads). Only the columns of `.schema(...)` are made, if one is given, and conditions on number,
ts_ns and size are met before a row is made. Exchanges need all packets of a connection in one place, which
no data source can bring about: `pipeline.tables` does.

A stream reads a folder: what is new are files that are closed, which is when they have their names
(`*.pcap`, `*.pcapng`, packed or not; not `*.part`). Its offset is which files were read, so it goes on where
it ended. Each file is a capture of its own to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.types import StructType

from pipeline.columns import ERRORS, Column, arrow, ddl
from pipeline.packet_rows import COMPARED, OPERATORS, PACKETS, Comparison, packet_rows
from pipeline.plan import Piece, Plan, plan, sorted_paths
from pipeline.ranges import SIZE, ranges
from pipeline.rows import batch
from pipeline.smaller import NOTES, fault_rows, note_rows
from pipeline.survey import survey

FORMAT: Final = "kafka-capture"

FILES: Final = (
    Column("file", "string", "the capture file"),
    Column("bytes", "bigint", "its size"),
)
"""One row a file."""

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "packets": PACKETS,
    "errors": ERRORS,
    "notes": NOTES,
    "files": FILES,
}

SUFFIXES: Final = (".pcap", ".pcapng")
PACKED: Final = (".gz", ".zst")


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
        return _Reader(_table(self.options), _paths(self.options), _size(self.options), _names(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 Spark's name
        """Reads a folder to which files are added."""
        paths = _paths(self.options)
        if len(paths) != 1 or not paths[0].is_dir():
            raise ValueError("a stream of captures reads one folder")
        return _Stream(_table(self.options), paths[0], _size(self.options), _names(schema))


class _Part(InputPartition):
    """What one task reads."""

    def __init__(self, piece: Piece | None, rows: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(None)
        self.piece = piece
        self.rows = rows


def _parts(table: str, paths: Sequence[Path], size: int) -> list[_Part]:
    """A capture's tasks."""
    if table == "files":
        return [_Part(None, [{"file": str(path), "bytes": path.stat().st_size} for path in paths])]
    made = _planned(paths, size)
    if table == "packets":
        return [_Part(piece) for piece in made.pieces] or [_Part(None)]
    capture = sorted_paths(paths)[0].name if paths else ""
    make = fault_rows if table == "errors" else note_rows
    return [_Part(None, make(made, capture))]


def _planned(paths: Sequence[Path], size: int) -> Plan:
    return plan(ranges(sorted_paths(paths), size), lambda found: [survey(one) for one in found])


def _read(
    table: str, part: _Part, names: Sequence[str], conditions: Sequence[Comparison]
) -> Iterator[pa.RecordBatch]:
    if part.piece is not None:
        yield from packet_rows(part.piece, names, conditions)
    else:
        by_name = {column.name: column for column in TABLES[table]}
        yield batch(part.rows, tuple(by_name[name] for name in names))


class _Reader(DataSourceReader):
    def __init__(self, table: str, paths: list[Path], size: int, names: tuple[str, ...]) -> None:
        self._table, self._paths, self._size, self._names = table, paths, size, names
        self._conditions: list[Comparison] = []

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 Spark's name
        """Takes the comparisons that are quickly made; Spark does the others."""
        for one in filters:
            attribute, value = getattr(one, "attribute", ()), getattr(one, "value", None)
            kind = type(one).__name__
            if (
                self._table == "packets"
                and kind in OPERATORS
                and len(attribute) == 1
                and attribute[0] in COMPARED
                and isinstance(value, int)
            ):
                self._conditions.append(Comparison(attribute[0], kind, value))
            else:
                yield one

    def partitions(self) -> Sequence[InputPartition]:
        """A task for each piece."""
        return _parts(self._table, self._paths, self._size)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._table, partition, self._names, self._conditions)


class _Stream(DataSourceStreamReader):
    def __init__(self, table: str, folder: Path, size: int, names: tuple[str, ...]) -> None:
        self._table, self._folder, self._size, self._names = table, folder, size, names

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 Spark's name
        """No file was read."""
        return {"files": []}

    def latestOffset(self, *_: object) -> dict[str, Any]:  # noqa: N802 Spark's name
        """All files that are closed by now."""
        return {"files": [path.name for path in closed(self._folder)]}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Tasks for the files that came in between."""
        new = sorted(set(end["files"]) - set(start["files"]))
        return [
            part for name in new for part in _parts(self._table, [self._folder / name], self._size)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        assert isinstance(partition, _Part)  # noqa: S101
        return _read(self._table, partition, self._names, ())


def closed(folder: Path) -> list[Path]:
    """The capture files in a folder that nobody writes any more, by name."""
    return sorted(path for path in folder.iterdir() if _is_capture(path))


def _is_capture(path: Path) -> bool:
    name = path.name
    for packed in PACKED:
        name = name.removesuffix(packed)
    return name.endswith(SUFFIXES) and not name.startswith((".", "_")) and path.is_file()


def _table(options: Any) -> str:
    table = options.get("table", "packets")
    if table not in TABLES:
        raise ValueError(f"no table {table!r}: one of {', '.join(TABLES)}")
    return str(table)


def _paths(options: Any) -> list[Path]:
    if "path" in options:
        return [Path(_plain(options["path"]))]
    paths = json.loads(options.get("paths", "[]"))
    if not paths:
        raise ValueError("load() wants the path of a capture, or a list of them")
    return [Path(_plain(path)) for path in paths]


def _plain(path: str) -> str:
    """A path as Spark may have written it."""
    return path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")


def _size(options: Any) -> int:
    size = options.get("size", str(SIZE))
    if not size.isdigit() or int(size) < 1:
        raise ValueError(f"size {size!r} is no number of bytes")
    return int(size)


def _names(schema: StructType) -> tuple[str, ...]:
    return tuple(schema.names)
