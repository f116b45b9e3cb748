"""Delta tables, by delta-rs. `userMetadata` of a commit names its run or batch."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa

from barnabas.pipeline.tables.schemas import FOLDERS

_APP: Final = "barnabas"
"""The application id of the transactions that batches make."""
_DECORATION: Final = re.compile(r"\x1b\[\d*m|↳")


def commit(
    folder: Path, table: str, metadata: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]
) -> None:
    """Commit rows; see `Format`.

    delta-rs reports errors in several colored lines; the last one has the cause.
    """
    from deltalake.exceptions import DeltaError

    table_folder = folder / table
    try:
        _commit(table_folder, metadata, rows)
    except (DeltaError, OSError) as problem:
        line = _DECORATION.sub("", str(problem)).strip().splitlines()[-1].strip()
        raise OSError(0, line, str(table_folder)) from None


def _commit(
    table_folder: Path, metadata: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]
) -> None:
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    table = DeltaTable(table_folder) if DeltaTable.is_deltatable(str(table_folder)) else None
    options: dict[str, Any] = {"mode": "append"}
    once = None
    if "batch" in metadata:
        latest = None if table is None else table.transaction_version(_APP)
        if latest is not None and latest >= metadata["batch"]:
            return
        once = [Transaction(_APP, metadata["batch"])]
    elif table is not None:
        quoted = metadata["capture"].replace("'", "''")
        options = {"mode": "overwrite", "predicate": f"capture = '{quoted}'"}
    reader = rows()
    write_deltalake(
        table_folder,
        reader,
        schema_mode="merge",
        partition_by=[column for column in FOLDERS if column in reader.schema.names],
        commit_properties=CommitProperties(
            {"userMetadata": json.dumps(metadata)}, app_transactions=once
        ),
        **options,
    )


def batches(folder: Path, table: str) -> Iterator[tuple[int, list[Path]]]:
    """Yield the batches of a table; see `Format`.

    The log is read as Delta's PROTOCOL.md defines it. A later optimization adds files that batches had added
    before.
    """
    table_folder = folder / table
    for path in sorted((table_folder / "_delta_log").glob("*.json"), reverse=True):
        try:
            log_batches = [*_batches(table_folder, path.read_text("utf-8"))]
        except (ValueError, TypeError, LookupError, RecursionError) as problem:
            reason = f"it is damaged ({type(problem).__name__})"
            raise OSError(0, reason, str(path)) from None
        yield from log_batches


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
