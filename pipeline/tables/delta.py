"""The tables of a folder as Delta tables, in addition, by delta-rs: `OUT/delta/TABLE`.

A table has one commit for each run, or batch of a followed folder. `userMetadata` of a commit names it, so
that matching versions of several tables can be found: there is no transaction over tables. `exchanges` comes
last: if a run is in it, the run is in all tables. Bodies are `body_json`, since delta-rs does not support
VARIANT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.pipeline.rows.columns import arrow
from barnabas.pipeline.tables.schemas import TABLES, columns_of, folders_of

FOLDER: Final = "delta"
"""The name of the folder with all Delta tables, next to the tables."""

_APP: Final = "barnabas"
"""The application id of the transactions that batches make."""
_DECORATION: Final = re.compile(r"\x1b\[\d*m|↳")
_ROWS: Final = 2000


def commit_capture(out: Path, capture: str) -> None:
    """Commit a capture of the folder's tables, replacing its earlier rows. Raises OSError."""
    for table in tables_in(out):
        rows = _rows(out / table, table, ds.field("capture") == capture)
        commit(out / FOLDER / table, {"capture": capture}, rows)


def commit_batch(tables: Path, out: Path, number: int) -> None:
    """Add the rows of a batch unless they were added before. Raises OSError.

    `tables` is the folder of the batch's tables.
    """
    for table in tables_in(tables):
        commit(out / FOLDER / table, {"batch": number}, _rows(tables / table, table))


def commit(table_folder: Path, metadata: Mapping[str, Any], rows: pa.RecordBatchReader) -> None:
    """Commit rows with metadata: {"capture": name} replaces its rows, {"batch": number} adds rows once.

    delta-rs reports errors in several colored lines; the last one has the cause. Raises OSError.
    """
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
    from deltalake.exceptions import DeltaError

    options: dict[str, Any] = {"mode": "append"}
    once = None
    try:
        before = DeltaTable(table_folder) if DeltaTable.is_deltatable(str(table_folder)) else None
        if "batch" in metadata:
            latest = None if before is None else before.transaction_version(_APP)
            if latest is not None and latest >= metadata["batch"]:
                return
            once = [Transaction(_APP, metadata["batch"])]
        elif before is not None:
            quoted = metadata["capture"].replace("'", "''")
            options = {"mode": "overwrite", "predicate": f"capture = '{quoted}'"}
        write_deltalake(
            table_folder,
            rows,
            schema_mode="merge",
            partition_by=[*folders_of(table_folder.name)],
            commit_properties=CommitProperties(
                {"userMetadata": json.dumps(metadata)}, app_transactions=once
            ),
            **options,
        )
    except (DeltaError, OSError) as problem:
        line = _DECORATION.sub("", str(problem)).strip().splitlines()[-1].strip()
        raise OSError(0, line, str(table_folder)) from None


def tables_in(folder: Path) -> list[str]:
    """Return the tables in a folder, exchanges last."""
    return [table for table in reversed(TABLES) if (folder / table).is_dir()]


def batches(table_folder: Path) -> Iterator[tuple[int, list[Path]]]:
    """Yield the batches of a Delta table, latest first, each with its number and the files that it added.

    The log is read as Delta's PROTOCOL.md defines it. A later optimization adds files that batches had added
    before. Raises OSError.
    """
    for path in sorted((table_folder / "_delta_log").glob("*.json"), reverse=True):
        try:
            log_batches = [*_batches(table_folder, path.read_text("utf-8"))]
        except (ValueError, TypeError, LookupError, RecursionError) as problem:
            reason = f"it is damaged ({type(problem).__name__})"
            raise OSError(0, reason, str(path)) from None
        yield from log_batches


def _rows(
    table_folder: Path, table: str, chosen: ds.Expression | None = None
) -> pa.RecordBatchReader:
    """Return the rows of a table, with the columns in its folders' names."""
    schema = arrow(columns_of(table)).remove_metadata()
    folders = pa.schema([schema.field(column) for column in folders_of(table)])
    by = ds.partitioning(folders, flavor="hive")
    dataset = ds.dataset(table_folder, schema, format="parquet", partitioning=by)
    return dataset.scanner(filter=chosen, batch_size=_ROWS).to_reader()


def _batches(table_folder: Path, log: str) -> Iterator[tuple[int, list[Path]]]:
    # texts may contain other line separators
    actions = [dict(json.loads(line)) for line in log.split("\n") if line]
    for transaction in (action["txn"] for action in actions if "txn" in action):
        if transaction["appId"] == _APP:
            files = [
                table_folder / unquote(action["add"]["path"])
                for action in actions
                if "add" in action
            ]
            yield int(transaction["version"]), files
