"""The tables of a folder in open table formats, in addition: `OUT/FORMAT/TABLE`.

A table has one commit for each run, or batch of a followed folder. Each commit names it, so that matching
versions of several tables can be found: there is no transaction over tables. `exchanges` comes last: if a run
is in it, the run is in all tables. Bodies are `body_json`, since the writers of these formats do not support
VARIANT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.pipeline.rows.columns import arrow
from barnabas.pipeline.tables import delta, iceberg
from barnabas.pipeline.tables.schemas import TABLES, columns_of, folders_of

_ROWS: Final = 2000


class Format(NamedTuple):
    """A table format: functions that write and read a table. `folder` has all tables of the format."""

    commit: Callable[[Path, str, Mapping[str, Any], Callable[[], pa.RecordBatchReader]], None]
    """(folder, table, metadata, rows): metadata is {"capture": name}, whose rows replace existing ones, or
    {"batch": number}, whose rows are added unless they were before. Raises OSError."""
    batches: Callable[[Path, str], Iterator[tuple[int, list[Path]]]]
    """(folder, table): the batches, latest first, each with its number and the files that it added. Raises
    OSError."""


FORMATS: Final[Mapping[str, Format]] = {
    "delta": Format(delta.commit, delta.batches),
    "iceberg": Format(iceberg.commit, iceberg.batches),
}
"""By the names of their folders."""


def commit_capture(out: Path, kind: str, capture: str) -> None:
    """Commit a capture of the folder's tables, replacing its earlier rows. Raises OSError."""
    for table in tables_in(out):
        rows = partial(_rows, out / table, table, ds.field("capture") == capture)
        FORMATS[kind].commit(out / kind, table, {"capture": capture}, rows)


def commit_batch(tables: Path, out: Path, kind: str, number: int) -> None:
    """Add the rows of a batch unless they were added before. Raises OSError.

    `tables` is the folder of the batch's tables.
    """
    for table in tables_in(tables):
        rows = partial(_rows, tables / table, table)
        FORMATS[kind].commit(out / kind, table, {"batch": number}, rows)


def tables_in(folder: Path) -> list[str]:
    """Return the tables in a folder, exchanges last."""
    return [table for table in reversed(TABLES) if (folder / table).is_dir()]


def _rows(
    table_folder: Path, table: str, chosen: ds.Expression | None = None
) -> pa.RecordBatchReader:
    """Return the rows of a table, with the columns in its folders' names."""
    schema = arrow(columns_of(table)).remove_metadata()
    folders = pa.schema([schema.field(column) for column in folders_of(table)])
    by = ds.partitioning(folders, flavor="hive")
    dataset = ds.dataset(table_folder, schema, format="parquet", partitioning=by)
    return dataset.scanner(filter=chosen, batch_size=_ROWS).to_reader()
