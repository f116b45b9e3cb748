"""How much of captures was read: a row for each, what its files hold and what could not be read of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow.compute as pc
import pyarrow.dataset as ds

from barnabas.pipeline.rows.columns import Column, arrow

QUALITY: Final = (
    Column("capture", "string", "name of the capture"),
    Column("files", "bigint", "files that were read"),
    Column("bytes", "bigint", "their bytes, packed if they are"),
    Column("packets", "bigint", "packets in them"),
    Column("exchanges", "bigint", "rows of exchanges"),
    Column("errors", "bigint", "rows of errors, of all kinds"),
    Column("skipped", "bigint", "bytes of files that are damaged, as far as that is known"),
    Column("unframed", "bigint", "bytes of connections in which no frame was found"),
    Column("gaps", "bigint", "gaps in connections, and segments that are not there"),
    Column("missing", "bigint", "bytes that these gaps lack, as far as that is known"),
    Column("undecodable", "bigint", "exchanges with a body that could not be decoded"),
    Column("unmatched", "bigint", "responses without a request"),
)
"""One row a capture and run; of a folder that is followed a row a capture and batch."""

_BYTES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "skipped": ("corrupt", "truncated"),
    "unframed": ("skipped",),
    "missing": ("gap",),
}
"""Columns that are a sum of `bytes` in errors, and of which kinds."""
_ROWS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "gaps": ("gap", "missing"),
    "unmatched": ("unmatched",),
}
"""The same of those that are a number of rows."""


class Read(NamedTuple):
    """What was read of a capture."""

    files: int
    bytes: int
    packets: int


def quality_row(
    capture: str,
    read: Read,
    errors: Iterable[Mapping[str, Any]],
    exchanges: Sequence[Path],
) -> dict[str, Any]:
    """The row of a capture. errors: its sums, see `sums`. exchanges: files with its rows. Raises OSError."""
    of = {row["kind"]: row for row in errors}
    found = ds.dataset(list(exchanges)) if exchanges else None
    return {
        "capture": capture,
        **read._asdict(),
        "exchanges": found.count_rows() if found else 0,
        "errors": sum(row["count"] for row in of.values()),
        **{name: _sum(of, kinds, "bytes") for name, kinds in _BYTES_OF.items()},
        **{name: _sum(of, kinds, "count") for name, kinds in _ROWS_OF.items()},
        # by the statistics of what was all decoded nothing is read
        "undecodable": found.count_rows(filter=pc.field("undecodable") > "") if found else 0,
    }


def quality(out: Path) -> list[dict[str, Any]]:
    """The rows of a folder, in order: none of what was written before there was this table. Raises
    OSError."""
    files = sorted((out / "quality").rglob("*.parquet"))
    if not files:
        return []
    # names of captures are texts, even those that look like numbers
    by = ds.partitioning(arrow(QUALITY[:1]), flavor="hive")
    table = ds.dataset(files, schema=arrow(QUALITY), partitioning=by, partition_base_dir=str(out))
    found: list[dict[str, Any]] = table.to_table().to_pylist()
    return sorted(found, key=lambda row: str(row["capture"]))


def _sum(of: Mapping[str, Mapping[str, Any]], kinds: Sequence[str], name: str) -> int:
    return sum(of[kind][name] or 0 for kind in kinds if kind in of)


def sums(errors: ds.Dataset) -> list[dict[str, Any]]:
    """Rows of errors, counted: {capture (if they have it), kind, count, bytes}. Raises OSError."""
    by = [name for name in ("capture", "kind") if name in errors.schema.names]
    table = errors.to_table(columns=[*by, "bytes"])
    found = table.group_by(by).aggregate([("bytes", "sum"), ([], "count_all")])
    names = {"bytes_sum": "bytes", "count_all": "count"}
    renamed = found.rename_columns([names.get(one, one) for one in found.schema.names])
    rows: list[dict[str, Any]] = renamed.to_pylist()
    return rows
