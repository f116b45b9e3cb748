"""Writes Parquet into folders by the values of columns, as Spark does, from Arrow in bounded memory."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.rows.columns import BODY_JSON
from barnabas.pipeline.tables.variant_annotation import annotate

ROWS, BYTES = 20_000, 16 << 20
"""The most rows and bytes of a row group, unless a single row is larger."""
GATHERED: Final = 128 << 20
"""Bytes of rows, before compression, that are sorted at once and written to one file of each folder."""

ZSTD: Final = "zstd"
"""The compression of all tables."""

_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"
_VARIANT: Final = pa.struct([BODY[0], BODY[1].with_metadata({"variant": "true"})])
"""BODY as pyspark knows it."""


class WrittenFile(NamedTuple):
    """A file, and whether `body` may be null in it."""

    path: Path
    nulls: bool


def write(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    folders: Sequence[str],
    target: Path,
    order: Sequence[str] = (),
) -> list[WrittenFile]:
    """Write batches into files with unique names; without rows there is no file.

    Args:
        batches: The rows.
        schema: The schema of the batches.
        folders: Columns by whose values files are put into folders: the folders' names have them, the files
            do not.
        target: The folder for all of them.
        order: Columns by which the rows of a file are sorted.

    Raises:
        OSError: A file can't be written.
    """
    inner = pa.schema([field for field in schema if field.name not in folders])
    metadata = {**(schema.metadata or {}), _SCHEMA: spark_schema(inner)}
    # dictionaries and statistics are useless for bodies
    plain = [field.name for field in inner if field.type != BODY]
    sorting = [(name, "ascending") for name in order]
    parquet = ds.ParquetFileFormat()
    options = parquet.make_write_options(
        compression=ZSTD,
        use_dictionary=plain,
        write_statistics=plain,
        sorting_columns=pq.SortingColumn.from_ordering(inner, sorting) if order else None,
    )
    # users of JSON have readers without VARIANT, some of which reject the annotation
    annotated = BODY in schema.types and BODY_JSON.name not in schema.names
    written = []
    for rows in _gathered(batches):
        if order:
            rows = rows.sort_by([*((name, "ascending") for name in folders), *sorting])
        paths: list[Path] = []
        ds.write_dataset(
            # an iterator's batches were written in another order now and then
            [*row_groups(rows.combine_chunks())],
            target,
            schema=schema.with_metadata(metadata),
            format=parquet,
            file_options=options,
            partitioning=ds.partitioning(pa.schema(map(schema.field, folders)), flavor="hive"),
            basename_template=f"part-{uuid.uuid4().hex}-{{i}}.parquet",
            existing_data_behavior="overwrite_or_ignore",
            max_rows_per_group=ROWS,
            max_partitions=len(rows),
            use_threads=False,
            file_visitor=lambda file, paths=paths: paths.append(Path(file.path)),
        )
        nulls = "body" in schema.names and rows["body"].null_count > 0
        for path in paths:
            if annotated:
                with path.open("r+b") as file:
                    annotate(file, "body")
            written.append(WrittenFile(path, nulls))
    return written


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield batches as tables of about GATHERED bytes."""
    gathered: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        if len(batch):
            gathered.append(batch)
            size += batch.nbytes
        if size > GATHERED:
            yield pa.Table.from_batches(gathered)
            gathered, size = [], 0
    if gathered:
        yield pa.Table.from_batches(gathered)


def row_groups(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yield rows in batches of at most ROWS and BYTES, in order; `rows` is one chunk."""
    for begin in range(0, len(rows), ROWS):
        part = rows.slice(begin, ROWS)
        if part.nbytes > BYTES and len(part) > 1:
            half = len(part) // 2
            yield from row_groups(part.slice(0, half))
            yield from row_groups(part.slice(half))
        else:
            yield from part.to_batches()


def spark_schema(schema: pa.Schema) -> str:
    """Return a schema as Spark writes it into its files; Spark recognises a VARIANT by it.

    >>> spark_schema(pa.schema([("body", BODY)]))
    '{"fields":[{"metadata":{},"name":"body","nullable":true,"type":"variant"}],"type":"struct"}'
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    fields = [field.with_type(_VARIANT) if field.type == BODY else field for field in schema]
    return from_arrow_schema(pa.schema(fields)).json()
