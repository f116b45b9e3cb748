"""The table `quality`: how much of each capture was read, and how much could not be read."""

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
"""One row a capture and run; in a followed folder, one row a capture and batch."""

_BYTES_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "skipped": ("corrupt", "truncated"),
    "unframed": ("skipped",),
    "missing": ("gap",),
}
"""Columns that sum `bytes` of errors, with the kinds of these errors."""
_ROWS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "gaps": ("gap", "missing"),
    "unmatched": ("unmatched",),
}
"""Columns that count rows of errors, with the kinds of these errors."""


class ReadTotals(NamedTuple):
    """The amount that was read of a capture."""

    files: int
    bytes: int
    packets: int


def quality_row(
    capture: str,
    read: ReadTotals,
    errors: Iterable[Mapping[str, Any]],
    exchanges: Sequence[Path],
) -> dict[str, Any]:
    """Return the row of a capture. Raises OSError.

    `errors` are its sums, see `sums`; `exchanges` are the files with its rows.
    """
    of = {row["kind"]: row for row in errors}
    dataset = ds.dataset(list(exchanges)) if exchanges else None
    return {
        "capture": capture,
        **read._asdict(),
        "exchanges": dataset.count_rows() if dataset else 0,
        "errors": sum(row["count"] for row in of.values()),
        **{name: _sum(of, kinds, "bytes") for name, kinds in _BYTES_OF.items()},
        **{name: _sum(of, kinds, "count") for name, kinds in _ROWS_OF.items()},
        # files whose statistics show that all rows were decoded are not read
        "undecodable": dataset.count_rows(filter=pc.field("undecodable") > "") if dataset else 0,
    }


def quality(out: Path) -> list[dict[str, Any]]:
    """Return the rows of a folder, in order; none if the tables are older than this table. Raises OSError."""
    files = sorted((out / "quality").rglob("*.parquet"))
    if not files:
        return []
    # names of captures are text, even if they look like numbers
    by = ds.partitioning(arrow(QUALITY[:1]), flavor="hive")
    table = ds.dataset(files, schema=arrow(QUALITY), partitioning=by, partition_base_dir=str(out))
    all_rows: list[dict[str, Any]] = table.to_table().to_pylist()
    return sorted(all_rows, key=lambda row: str(row["capture"]))


def _sum(of: Mapping[str, Mapping[str, Any]], kinds: Sequence[str], name: str) -> int:
    return sum(of[kind][name] or 0 for kind in kinds if kind in of)


def sums(errors: ds.Dataset) -> list[dict[str, Any]]:
    """Return counts of error rows: {capture (if they have it), kind, count, bytes}. Raises OSError."""
    by = [name for name in ("capture", "kind") if name in errors.schema.names]
    table = errors.to_table(columns=[*by, "bytes"])
    grouped = table.group_by(by).aggregate([("bytes", "sum"), ([], "count_all")])
    renamed = grouped.rename_columns({"bytes_sum": "bytes", "count_all": "count"})
    rows: list[dict[str, Any]] = renamed.to_pylist()
    return rows
