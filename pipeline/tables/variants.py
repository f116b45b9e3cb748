"""Bodies that are too large to be a VARIANT: what is said of them in the errors table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow.parquet as pq

from barnabas.pipeline.tables.partitioned_parquet import Written

REASON: Final = "larger than Spark's limit for VARIANT: its body is null in exchanges"

_WANTED: Final = ("connection", "ts_ns", "request_packet", "request_size", "response_size")


def lost_bodies(written: Iterable[Written], capture: str | None = None) -> list[dict[str, Any]]:
    """Rows of ERRORS for the exchanges in these files whose body is null. capture: if it is not in the
    folders' names. Raises OSError."""
    rows = []
    for one in written:
        if not one.nulls:
            continue
        found = pq.read_table(one.path, columns=[*_WANTED, "body"])
        gone = found.filter(found["body"].is_null()).drop_columns("body")
        rows += [
            {
                "capture": capture_of(one.path) if capture is None else capture,
                "connection": row["connection"],
                "bytes": row["request_size"] + (row["response_size"] or 0),
                "ts_ns": row["ts_ns"],
                "packet": row["request_packet"],
                "kind": "too large",
                "reason": REASON,
            }
            for row in gone.to_pylist()
        ]
    return rows


def capture_of(path: Path) -> str:
    """The capture that a file is of, by the folders that it is in."""
    folders = dict(folder.partition("=")[::2] for folder in path.parent.parts)
    return unquote(folders["capture"])
