"""Writes Parquet into folders by the values of columns, like Spark, from Arrow in bounded memory."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.rows.columns import BODY_JSON
from barnabas.pipeline.tables.folders import escaped
from barnabas.pipeline.tables.variant_annotation import annotate

ROWS, BYTES = 20_000, 16 << 20
"""The most rows and bytes of a row group, unless a single row is larger."""
KEPT: Final = 256 << 20
"""Bytes of unwritten rows in all folders: this many are sorted at once."""
LARGE: Final = 4096
"""Average bytes of a row's bodies from which on bodies are not moved when rows are sorted."""
FILE: Final = 128 << 20
"""The approximate size of a file in bytes; further rows go to another file."""

ZSTD: Final = "zstd"
"""The compression of all tables."""

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"


class WrittenFile(NamedTuple):
    """A file, and the number of its exchanges whose `body` is null."""

    path: Path
    nulls: int


class _Folder:
    """The rows of a folder: gathered, then sorted and written to one file after another."""

    def __init__(self, folder: Path, name: str, schema: pa.Schema, order: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.written: list[WrittenFile] = []
        self.bytes = 0
        self._folder, self._name, self._schema = folder, name, schema
        self._order = [(name, "ascending") for name in order]
        # dictionaries and statistics are useless for bodies
        self._plain = [name for name in schema.names if schema.field(name).type != BODY]
        # users of JSON have readers without VARIANT, some of which reject the annotation
        self._annotated = BODY in schema.types and BODY_JSON.name not in schema.names
        self._kept: list[pa.RecordBatch] = []
        self._writer: pq.ParquetWriter | None = None
        self._file: Any = None

    def add(self, rows: pa.RecordBatch) -> None:
        self._kept.append(rows)
        self.bytes += rows.nbytes

    def flush(self) -> None:
        if not self._kept:
            return
        rows = pa.Table.from_batches(self._kept)
        self._kept.clear()
        self.bytes = 0
        if self._order:
            rows = in_order(rows, self._order)
        for group in row_groups(rows):
            if self._writer is None:
                self._begin()
            assert self._writer is not None  # noqa: S101
            self._writer.write_table(group.combine_chunks(), row_group_size=ROWS)
            nulls = group["body"].null_count if "body" in group.schema.names else 0
            path, before = self.written[-1]
            self.written[-1] = WrittenFile(path, before + nulls)
            if self._file.tell() >= FILE:
                self.close()

    def _begin(self) -> None:
        path = self._folder / self._name.format(len(self.written))
        self._file = path.open("w+b")
        sorting = pq.SortingColumn.from_ordering(self._schema, self._order) if self._order else None
        self._writer = pq.ParquetWriter(
            self._file, self._schema, compression=ZSTD, use_dictionary=self._plain,
            write_statistics=self._plain, sorting_columns=sorting,
        )  # fmt: skip
        self.written.append(WrittenFile(path, 0))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            if self._annotated:
                annotate(self._file, self._schema.names[self._schema.types.index(BODY)])
            self._file.close()
            self._writer = None


def in_order(rows: pa.Table, order: Sequence[tuple[str, str]]) -> pa.Table:
    """Return sorted rows. LARGE bodies are not moved: their column gets a chunk for each run."""
    bodies = [name for name in rows.column_names if rows.schema.field(name).type == BODY]
    if sum(rows[name].nbytes for name in bodies) < LARGE * len(rows):
        return rows.sort_by(order)
    indexes = pc.sort_indices(rows.select([name for name, _ in order]), sort_keys=order)
    ordered = rows.drop_columns(bodies).take(indexes)
    for name in bodies:
        runs = _runs(rows[name], indexes.to_numpy())
        ordered = ordered.append_column(rows.schema.field(name), pa.chunked_array(runs, BODY))
    return ordered.select(rows.column_names)


def _runs(column: pa.ChunkedArray, indexes: NDArray[np.uint64]) -> Iterator[pa.Array]:
    """Return the values at these indexes as slices of the chunks."""
    starts = np.cumsum([0, *map(len, column.chunks[:-1])])
    of = np.searchsorted(starts, indexes, side="right") - 1
    cuts = np.flatnonzero((np.diff(of) != 0) | (np.diff(indexes.astype(np.int64)) != 1)) + 1
    for begin, end in itertools.pairwise((0, *cuts.tolist(), len(indexes))):
        chunk = of[begin]
        yield column.chunk(chunk).slice(int(indexes[begin]) - starts[chunk], end - begin)


def row_groups(rows: pa.Table) -> Iterable[pa.Table]:
    """Yield rows in parts of at most ROWS and BYTES, in order."""
    for begin in range(0, len(rows), ROWS):
        part = rows.slice(begin, ROWS)
        if part.nbytes > BYTES and len(part) > 1:
            half = len(part) // 2
            yield from row_groups(part.slice(0, half))
            yield from row_groups(part.slice(half))
        else:
            yield part


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folders: Sequence[str],
    target: Path,
    name: str,
    order: Sequence[str] = (),
) -> list[WrittenFile]:
    """Write batches into files; without rows there is no file.

    Args:
        batches: The rows.
        schema: The schema of the batches.
        folders: Columns by whose values files are put into folders: the folders' names have them, the files
            do not.
        target: The folder for all of them.
        name: The files' name, with `{}` for their number.
        order: Columns by which rows are sorted, within the rows that are gathered.

    Raises:
        OSError: A file can't be written.
    """
    inner = pa.schema([field for field in schema if field.name not in folders])
    metadata = {_SCHEMA: spark_schema(inner).encode()}
    inner = inner.with_metadata({**(schema.metadata or {}), **metadata})
    folders_by_key: dict[tuple[Any, ...], _Folder] = {}
    try:
        for batch in batches:
            for key, rows in _by(batch, folders):
                if key not in folders_by_key:
                    folder_path = target.joinpath(*map(_folder, folders, key))
                    folders_by_key[key] = _Folder(folder_path, name, inner, order)
                folders_by_key[key].add(rows.select(inner.names))
            if sum(folder.bytes for folder in folders_by_key.values()) > KEPT:
                for folder in folders_by_key.values():
                    folder.flush()
        for folder in folders_by_key.values():
            folder.flush()
    finally:
        for folder in folders_by_key.values():
            folder.close()
    return [file for folder in folders_by_key.values() for file in folder.written]


def _by(
    rows: pa.RecordBatch, folders: Sequence[str]
) -> Iterable[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """Return rows grouped by the values of these columns."""
    indexes_by_key: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(rows[name].to_pylist() for name in folders), strict=True)
    for at, key in enumerate(keys if folders else [()] * len(rows)):
        indexes_by_key.setdefault(key, []).append(at)
    if len(indexes_by_key) == 1:
        return [(key, rows) for key in indexes_by_key]
    return [(key, rows.take(pa.array(indexes))) for key, indexes in indexes_by_key.items()]


def _folder(name: str, value: Any) -> str:
    return f"{name}={_NULL if value is None else escaped(str(value))}"


def spark_schema(schema: pa.Schema) -> str:
    """Return a schema as Spark writes it into its files; Spark recognises a VARIANT by it.

    >>> spark_schema(pa.schema([("n", pa.int64()), ("body", BODY)]))[:70]
    '{"type": "struct", "fields": [{"name": "n", "type": "long", "nullable"'
    """
    return json.dumps({"type": "struct", "fields": [_field(field) for field in schema]})


def _field(field: pa.Field) -> dict[str, Any]:
    return {"name": field.name, "type": _type(field.type), "nullable": True, "metadata": {}}


def _type(type_: pa.DataType) -> Any:
    if type_ == BODY:
        return "variant"
    if pa.types.is_list(type_):
        return {"type": "array", "elementType": _type(type_.value_type), "containsNull": True}
    if pa.types.is_struct(type_):
        return {"type": "struct", "fields": [_field(inner) for inner in type_]}
    return _SIMPLE[type_]


_SIMPLE: Final[dict[pa.DataType, str]] = {
    pa.bool_(): "boolean",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us", tz="UTC"): "timestamp",
}
"""Spark's names in JSON."""
