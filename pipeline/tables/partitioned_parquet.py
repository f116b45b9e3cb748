"""Parquet in folders by the values of columns, as Spark has it: by whoever has Arrow, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.tables.folders import escaped

ROWS, BYTES = 20_000, 16 << 20
"""Of a row group, about: what of it comes first."""
KEPT: Final = 64 << 20
"""Bytes of row groups in all folders that are not written yet."""

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"


class Written(NamedTuple):
    """A file, and in how many rows a column is null, if it has one that is called so."""

    path: Path
    nulls: int


class _File:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.nulls = self.rows = self.bytes = 0
        plain = [name for name in schema.names if schema.field(name).type != BODY]
        # of a body neither a dictionary nor the least and largest help anybody
        self._writer = pq.ParquetWriter(path, schema, use_dictionary=plain, write_statistics=plain)
        self._kept: list[pa.RecordBatch] = []

    def add(self, rows: pa.RecordBatch) -> None:
        self._kept.append(rows)
        self.rows += len(rows)
        self.bytes += rows.nbytes
        if self.rows >= ROWS or self.bytes >= BYTES:
            self.flush()

    def flush(self) -> None:
        if self._kept:
            self._writer.write_table(pa.Table.from_batches(self._kept).combine_chunks())
            self._kept.clear()
            self.rows = self.bytes = 0

    def close(self) -> None:
        self.flush()
        self._writer.close()


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folders: Sequence[str],
    place: Path,
    name: str,
    counted: str = "body",
) -> list[Written]:
    """Write batches into files of this name in folders. counted: the column whose nulls are counted.

    schema: of the batches; what `folders` names is in the folders' names and not in the files. There is no
    file where there is no row. Raises OSError.
    """
    inner = pa.schema([field for field in schema if field.name not in folders])
    inner = inner.with_metadata({_SCHEMA: spark_schema(inner).encode()})
    files: dict[tuple[Any, ...], _File] = {}
    try:
        for one in batches:
            for key, rows in _by(one, folders):
                if key not in files:
                    files[key] = _File(place.joinpath(*map(_folder, folders, key), name), inner)
                file = files[key]
                if counted in rows.schema.names:
                    file.nulls += rows[counted].null_count
                file.add(rows.select(inner.names))
            if sum(file.bytes for file in files.values()) > KEPT:
                for file in files.values():
                    file.flush()
    finally:
        for file in files.values():
            file.close()
    return [Written(file.path, file.nulls) for file in files.values()]


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
