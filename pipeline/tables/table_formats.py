"""The tables of a folder in open table formats, too: `OUT/FORMAT/TABLE`.

A table has one commit for each run, or batch of a folder that is followed. Each says which, so that versions
of several tables are found that belong together: there is no transaction over tables. `exchanges` comes last:
who sees a run in it sees the rest. Bodies are `body_json`: what writes these formats knows no VARIANT.
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
    """How a table is written and read back. `folder` has all tables of the format."""

    commit: Callable[[Path, str, Mapping[str, Any], Callable[[], pa.RecordBatchReader]], None]
    """(folder, table, said, rows): said is {"capture": name}, whose rows take the place of those that there
    are, or {"batch": number}, of which they are added unless they were before. Raises OSError."""
    batches: Callable[[Path, str], Iterator[tuple[int, list[Path]]]]
    """(folder, table): what each batch has added, the latest first: its number, and files. Raises OSError."""


FORMATS: Final[Mapping[str, Format]] = {
    "delta": Format(delta.commit, delta.batches),
    "iceberg": Format(iceberg.commit, iceberg.batches),
}
"""By the names of their folders."""


def commit_capture(out: Path, kind: str, capture: str) -> None:
    """What the folder's tables have of a capture takes the place of what the format had of it. Raises
    OSError."""
    for table in tables_in(out):
        rows = partial(_rows, out / table, table, ds.field("capture") == capture)
        FORMATS[kind].commit(out / kind, table, {"capture": capture}, rows)


def commit_batch(tables: Path, out: Path, kind: str, number: int) -> None:
    """The rows of a batch are added, unless they were before. tables: the batch's. Raises OSError."""
    for table in tables_in(tables):
        rows = partial(_rows, tables / table, table)
        FORMATS[kind].commit(out / kind, table, {"batch": number}, rows)


def tables_in(folder: Path) -> list[str]:
    """The tables that there are, exchanges last."""
    return [table for table in reversed(TABLES) if (folder / table).is_dir()]


def _rows(place: Path, table: str, chosen: ds.Expression | None = None) -> pa.RecordBatchReader:
    """Rows of a table, with what its folders are called by."""
    schema = arrow(columns_of(table)).remove_metadata()
    folders = pa.schema([schema.field(column) for column in folders_of(table)])
    by = ds.partitioning(folders, flavor="hive")
    found = ds.dataset(place, schema, format="parquet", partitioning=by)
    return found.scanner(filter=chosen, batch_size=_ROWS).to_reader()
