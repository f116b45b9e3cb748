"""Parquet in folders by the values of columns, as Spark has it: by whoever has Arrow, in bounded memory."""

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
"""Of a row group, at most, unless a single row is larger."""
KEPT: Final = 256 << 20
"""Bytes of rows in all folders that are not written yet: so much is sorted at once."""
LARGE: Final = 4096
"""Bytes of a row's bodies, on average, from which on they are not moved when rows are sorted."""
FILE: Final = 128 << 20
"""Bytes of a file, about: the next rows begin another."""

ZSTD: Final = "zstd"
"""What all tables are packed by."""

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"


class Written(NamedTuple):
    """A file, and how many of its exchanges have no body: `body` is null."""

    path: Path
    nulls: int


class _Folder:
    """Rows of a folder: kept, then sorted and written into a file after the other."""

    def __init__(self, place: Path, name: str, schema: pa.Schema, order: Sequence[str]) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.written: list[Written] = []
        self.bytes = 0
        self._place, self._name, self._schema = place, name, schema
        self._order = [(name, "ascending") for name in order]
        # of a body neither a dictionary nor the least and largest help anybody
        self._plain = [name for name in schema.names if schema.field(name).type != BODY]
        # who wants JSON has readers that do not know a VARIANT, of which some refuse what is annotated as one
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
            self.written[-1] = Written(path, before + nulls)
            if self._file.tell() >= FILE:
                self.close()

    def _begin(self) -> None:
        path = self._place / self._name.format(len(self.written))
        self._file = path.open("w+b")
        sorting = pq.SortingColumn.from_ordering(self._schema, self._order) if self._order else None
        self._writer = pq.ParquetWriter(
            self._file, self._schema, compression=ZSTD, use_dictionary=self._plain,
            write_statistics=self._plain, sorting_columns=sorting,
        )  # fmt: skip
        self.written.append(Written(path, 0))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            if self._annotated:
                annotate(self._file, self._schema.names[self._schema.types.index(BODY)])
            self._file.close()
            self._writer = None


def in_order(rows: pa.Table, order: Sequence[tuple[str, str]]) -> pa.Table:
    """Rows sorted. Where bodies are LARGE they stay where they are: their column has a chunk for each run."""
    bodies = [name for name in rows.column_names if rows.schema.field(name).type == BODY]
    if sum(rows[name].nbytes for name in bodies) < LARGE * len(rows):
        return rows.sort_by(order)
    places = pc.sort_indices(rows.select([name for name, _ in order]), sort_keys=order)
    found = rows.drop_columns(bodies).take(places)
    for name in bodies:
        runs = _runs(rows[name], places.to_numpy())
        found = found.append_column(rows.schema.field(name), pa.chunked_array(runs, BODY))
    return found.select(rows.column_names)


def _runs(column: pa.ChunkedArray, places: NDArray[np.uint64]) -> Iterator[pa.Array]:
    """What is at these places, as slices of the chunks."""
    starts = np.cumsum([0, *map(len, column.chunks[:-1])])
    of = np.searchsorted(starts, places, side="right") - 1
    cuts = np.flatnonzero((np.diff(of) != 0) | (np.diff(places.astype(np.int64)) != 1)) + 1
    for begin, end in itertools.pairwise((0, *cuts.tolist(), len(places))):
        chunk = of[begin]
        yield column.chunk(chunk).slice(int(places[begin]) - starts[chunk], end - begin)


def row_groups(rows: pa.Table) -> Iterable[pa.Table]:
    """Rows in parts of ROWS and BYTES at most, in their order."""
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
    place: Path,
    name: str,
    order: Sequence[str] = (),
) -> list[Written]:
    """Write batches into files. There is no file where there is no row.

    Args:
        batches: the rows.
        schema: the schema of the batches.
        folders: columns by whose values files are in folders: they are in the folders' names, not in the
            files.
        place: the folder of all.
        name: how files are called, with `{}` for their number.
        order: columns by which rows are sorted, as many at once as are kept.

    Raises:
        OSError: a file can't be written.
    """
    inner = pa.schema([field for field in schema if field.name not in folders])
    said = {_SCHEMA: spark_schema(inner).encode()}
    inner = inner.with_metadata({**(schema.metadata or {}), **said})
    found: dict[tuple[Any, ...], _Folder] = {}
    try:
        for one in batches:
            for key, rows in _by(one, folders):
                if key not in found:
                    where = place.joinpath(*map(_folder, folders, key))
                    found[key] = _Folder(where, name, inner, order)
                found[key].add(rows.select(inner.names))
            if sum(one.bytes for one in found.values()) > KEPT:
                for folder in found.values():
                    folder.flush()
        for folder in found.values():
            folder.flush()
    finally:
        for folder in found.values():
            folder.close()
    return [one for folder in found.values() for one in folder.written]


def _by(
    rows: pa.RecordBatch, folders: Sequence[str]
) -> Iterable[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """Rows by the values of these columns."""
    places: dict[tuple[Any, ...], list[int]] = {}
    keys = zip(*(rows[name].to_pylist() for name in folders), strict=True)
    for at, key in enumerate(keys if folders else [()] * len(rows)):
        places.setdefault(key, []).append(at)
    if len(places) == 1:
        return [(key, rows) for key in places]
    return [(key, rows.take(pa.array(found))) for key, found in places.items()]


def _folder(name: str, value: Any) -> str:
    return f"{name}={_NULL if value is None else escaped(str(value))}"


def spark_schema(schema: pa.Schema) -> str:
    """A schema as Spark writes it into its files, from where it knows a VARIANT.

    >>> spark_schema(pa.schema([("n", pa.int64()), ("body", BODY)]))[:70]
    '{"type": "struct", "fields": [{"name": "n", "type": "long", "nullable"'
    """
    return json.dumps({"type": "struct", "fields": [_field(one) for one in schema]})


def _field(one: pa.Field) -> dict[str, Any]:
    return {"name": one.name, "type": _type(one.type), "nullable": True, "metadata": {}}


def _type(one: pa.DataType) -> Any:
    if one == BODY:
        return "variant"
    if pa.types.is_list(one):
        return {"type": "array", "elementType": _type(one.value_type), "containsNull": True}
    if pa.types.is_struct(one):
        return {"type": "struct", "fields": [_field(inner) for inner in one]}
    return _SIMPLE[one]


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
"""What Spark calls them in JSON."""
