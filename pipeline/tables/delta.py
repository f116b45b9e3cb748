"""The tables of a folder as Delta tables, too, by delta-rs: `OUT/delta/TABLE`.

A table has one commit for each run, or batch of a folder that is followed. `userMetadata` of each says which,
so that versions of several tables are found that belong together. `exchanges` comes last: who sees a run in
it sees the rest. Bodies are `body_json`: delta-rs writes no VARIANT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.pipeline.rows.columns import BODY_JSON, arrow
from barnabas.pipeline.tables.tables import FOLDERS, TABLES

if TYPE_CHECKING:
    from deltalake import DeltaTable

DELTA: Final = "delta"
"""The folder with a Delta table for each."""

_APP: Final = "barnabas"
"""Whose transactions batches are."""
_ROWS: Final = 2000
_DECORATION: Final = re.compile(r"\x1b\[\d*m|↳")


def commit_capture(out: Path, capture: str) -> None:
    """What the folder's tables have of a capture takes the place of what Delta had of it. Raises OSError."""
    quoted = capture.replace("'", "''")
    for name, place in _places(out, out / DELTA):
        with _told(place):
            rows = _rows(out / name, name, ds.field("capture") == capture)
            how = {"mode": "overwrite", "predicate": f"capture = '{quoted}'"}
            _write(place, name, rows, {"capture": capture}, **(how if _table(place) else {}))


def commit_batch(tables: Path, delta: Path, number: int) -> None:
    """The rows of a batch are added, unless they were before. delta: with the tables. Raises OSError."""
    from deltalake import Transaction

    for name, place in _places(tables, delta):
        with _told(place):
            there = _table(place)
            latest = None if there is None else there.transaction_version(_APP)
            if latest is None or latest < number:
                rows, once = _rows(tables / name, name), Transaction(_APP, number)
                _write(place, name, rows, {"batch": number}, transaction=once)


def _places(tables: Path, delta: Path) -> Iterator[tuple[str, Path]]:
    """The tables that there are, exchanges last, and where Delta's are."""
    return ((name, delta / name) for name in reversed(TABLES) if (tables / name).is_dir())


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """What goes wrong, in a line: delta-rs says it in several, with colours, the cause last."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OSError) as problem:
        line = _DECORATION.sub("", str(problem)).strip().splitlines()[-1].strip()
        raise OSError(0, line, str(place)) from None


def _table(place: Path) -> DeltaTable | None:
    from deltalake import DeltaTable

    return DeltaTable(place) if DeltaTable.is_deltatable(str(place)) else None


def _rows(place: Path, name: str, chosen: ds.Expression | None = None) -> pa.RecordBatchReader:
    """Rows of a table, with what its folders are called by."""
    columns = (*TABLES[name], BODY_JSON) if name == "exchanges" else TABLES[name]
    schema = arrow(columns).remove_metadata()
    folders = pa.schema([schema.field(column) for column in _folders(name)])
    by = ds.partitioning(folders, flavor="hive")
    found = ds.dataset(place, schema, format="parquet", partitioning=by)
    return found.scanner(filter=chosen, batch_size=_ROWS).to_reader()


def _folders(name: str) -> tuple[str, ...]:
    return FOLDERS if name == "exchanges" else FOLDERS[:1]


def _write(
    place: Path,
    name: str,
    rows: pa.RecordBatchReader,
    said: Mapping[str, Any],
    *,
    transaction: Any = None,
    **how: Any,
) -> None:
    from deltalake import CommitProperties, write_deltalake

    properties = CommitProperties(
        {"userMetadata": json.dumps(said)},
        app_transactions=None if transaction is None else [transaction],
    )
    options = {"mode": "append", "schema_mode": "merge", "partition_by": [*_folders(name)], **how}
    write_deltalake(place, rows, commit_properties=properties, **options)
