"""The generations of each group, computed by the pure core, which knows the late and missing members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame

from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.summary.rebalances import Rebalances
from barnabas.pipeline.analyses.expressions import captured
from barnabas.pipeline.analyses.findings import ROW_COLUMNS, in_order, rows_by
from barnabas.pipeline.rows.columns import arrow, ddl, fields
from barnabas.pipeline.rows.exchanges import exchange

COLUMNS: Final = fields(
    "capture string, group string, generation int, began_ns bigint, members int, "
    "late_members array<string>, missed array<string>"
)
"""began_ns: when its first member asked for it, in ns since the epoch; late_members: ids of members that
others waited for; missed: ids of members that others waited for in vain."""

SEES: Final = "error <> '' or api not in ('Heartbeat', 'OffsetCommit', 'TxnOffsetCommit')"
"""SQL: the exchanges of members that are relevant to generations."""


def generations(exchanges: DataFrame) -> DataFrame:
    """Return one row for each generation of a classic group, and for each epoch of groups with heartbeats."""
    relevant = (
        captured(exchanges).where("`group` is not null and seen.`group` is not null").where(SEES)
    )
    rows = in_order(relevant.select(*ROW_COLUMNS, "end_ns", "group", "seen"), "capture", "group")
    return rows.mapInArrow(_learnt, ddl(COLUMNS))


def _learnt(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the generations of rows that are ordered by group and end."""
    schema = arrow(COLUMNS)
    for (capture, _), group_rows in rows_by(batches, "capture", "group"):
        rebalances = Rebalances(row=_row)
        for row in group_rows:
            rebalances.note(exchange(row))
        # a number may repeat after a gap of the capture
        by_number = {row["generation"]: row for row in reversed(rebalances.finish())}
        generation_rows = [row | {"capture": capture} for row in by_number.values()]
        yield pa.RecordBatch.from_pylist(generation_rows, schema=schema)


def _row(generation: Generation) -> dict[str, Any]:
    waited, values = generation.delay, generation.row()
    waited_for = {} if waited is None else {waited.kind: waited.members}
    return {name: values[name] for name in ("group", "generation", "ts", "members")} | {
        "began_ns": generation.began,
        "late_members": waited_for.get("late", ()),
        "missed": waited_for.get("absent", ()),
    }
