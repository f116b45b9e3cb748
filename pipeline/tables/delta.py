"""Delta tables, by delta-rs. `userMetadata` of a commit says which run or batch it is of."""

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
"""Whose transactions batches are."""
_DECORATION: Final = re.compile(r"\x1b\[\d*m|↳")


def commit(
    folder: Path, table: str, said: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]
) -> None:
    """See `Format`. What goes wrong is told in a line: delta-rs says it in several, with colours, the cause
    last."""
    from deltalake.exceptions import DeltaError

    place = folder / table
    try:
        _commit(place, said, rows)
    except (DeltaError, OSError) as problem:
        line = _DECORATION.sub("", str(problem)).strip().splitlines()[-1].strip()
        raise OSError(0, line, str(place)) from None


def _commit(place: Path, said: Mapping[str, Any], rows: Callable[[], pa.RecordBatchReader]) -> None:
    from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

    there = DeltaTable(place) if DeltaTable.is_deltatable(str(place)) else None
    options: dict[str, Any] = {"mode": "append"}
    once = None
    if "batch" in said:
        latest = None if there is None else there.transaction_version(_APP)
        if latest is not None and latest >= said["batch"]:
            return
        once = [Transaction(_APP, said["batch"])]
    elif there is not None:
        quoted = said["capture"].replace("'", "''")
        options = {"mode": "overwrite", "predicate": f"capture = '{quoted}'"}
    found = rows()
    write_deltalake(
        place,
        found,
        schema_mode="merge",
        partition_by=[one for one in FOLDERS if one in found.schema.names],
        commit_properties=CommitProperties(
            {"userMetadata": json.dumps(said)}, app_transactions=once
        ),
        **options,
    )


def batches(folder: Path, table: str) -> Iterator[tuple[int, list[Path]]]:
    """See `Format`. By the log, as Delta's PROTOCOL.md has it: who optimizes a table adds to it what batches
    had added."""
    place = folder / table
    for path in sorted((place / "_delta_log").glob("*.json"), reverse=True):
        try:
            found = [*_batches(place, path.read_text("utf-8"))]
        except (ValueError, TypeError, LookupError, RecursionError) as problem:
            said = f"it is damaged ({type(problem).__name__})"
            raise OSError(0, said, str(path)) from None
        yield from found


def _batches(place: Path, log: str) -> Iterator[tuple[int, list[Path]]]:
    # other ends of lines may stand in texts
    actions = [dict(json.loads(line)) for line in log.split("\n") if line]
    for transaction in (one["txn"] for one in actions if "txn" in one):
        if transaction["appId"] == _APP:
            files = [place / unquote(one["add"]["path"]) for one in actions if "add" in one]
            yield int(transaction["version"]), files
