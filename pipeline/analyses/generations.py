"""What the pure core says of each generation of a group: who was late, or missed it, is said in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from barnabas.captures.checks.rebalance import Generation
from barnabas.captures.summary.rebalances import Rebalances
from barnabas.pipeline.analyses.expressions import captured
from barnabas.pipeline.analyses.findings import KEPT, in_order
from barnabas.pipeline.rows.columns import arrow, ddl, fields
from barnabas.pipeline.rows.exchanges import exchange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS: Final = fields(
    "capture string, group string, generation int, began_ns bigint, members int, "
    "late_members array<string>, missed array<string>"
)
"""began_ns: when its first member asked for it, in ns since the epoch; late_members: ids of those that others
waited for; missed: ids of those that others waited for in vain."""

SEES: Final = "error <> '' or api not in ('Heartbeat', 'OffsetCommit', 'TxnOffsetCommit')"
"""SQL: of what members say, what may say anything of a generation."""


def generations(exchanges: DataFrame) -> DataFrame:
    """A row a generation of a classic group, and an epoch of those with heartbeats of their own."""
    seen = captured(exchanges).where("`group` is not null and seen.`group` is not null").where(SEES)
    rows = in_order(seen.select(*KEPT, "end_ns", "group", "seen"), "capture", "group")
    return rows.mapInArrow(_learnt, ddl(COLUMNS))


def _learnt(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The generations of rows that come in the order of groups and of their ends."""
    schema = arrow(COLUMNS)
    rows = (row for batch in batches for row in batch.to_pylist())
    for (capture, _), mine in groupby(rows, key=lambda row: (row["capture"], row["group"])):
        of = Rebalances(row=_row)
        for row in mine:
            of.note(exchange(row))
        # a number comes again behind a gap of the capture
        found = {row["generation"]: row for row in reversed(of.finish())}
        told = [row | {"capture": capture} for row in found.values()]
        yield pa.RecordBatch.from_pylist(told, schema=schema)


def _row(one: Generation) -> dict[str, Any]:
    waited, said = one.waited, one.row()
    of = {} if waited is None else {waited.kind: waited.members}
    return {name: said[name] for name in ("group", "generation", "ts", "members")} | {
        "began_ns": one.began,
        "late_members": of.get("late", ()),
        "missed": of.get("absent", ()),
    }
