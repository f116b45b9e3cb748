"""The stages on Spark: a thin shell around the pure ones, each a generator of Arrow batches. Without a
session they are the same in this process, which has little done before Spark has started.

What a worker needs travels in the function itself, so workers elsewhere need our packages and the files,
and nothing of the driver's.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from barnabas.captures.tls.keylog import KeyLog
from barnabas.endings import asking
from barnabas.pipeline.reading.flows import Reading, outcomes
from barnabas.pipeline.reading.mapped_files import MappedFiles
from barnabas.pipeline.reading.outcomes import HEAD, Outcome, schema, travelling
from barnabas.pipeline.reading.packet_rows import packet_rows
from barnabas.pipeline.reading.plan import Piece, Plan
from barnabas.pipeline.reading.planning import plan
from barnabas.pipeline.reading.ranges import Range
from barnabas.pipeline.reading.runs import Row, unpack
from barnabas.pipeline.reading.survey import Surveyed, survey
from barnabas.pipeline.reading.tcp_segments import COLUMNS, SCHEMA, segments
from barnabas.pipeline.rows.columns import Column, arrow, ddl
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables.parquet import Batches, Filed, file_rows, made, tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH_BYTES: Final = 8 << 20
"""Bytes of bodies, and of what is said beside exchanges, by which a batch ends."""
MOST: Final = 2000
"""Rows of such a batch, at most."""
_LOCAL: Final = 3 << 30
"""Bytes of captures up to which the driver surveys them itself: starting a job takes as long."""
HERE: Final = 64 << 20
"""Bytes of segments, with the payload of packed files, that are kept in this process."""
_PACKED: Final = 4
"""What a byte of a packed file counts as: it has to be unpacked first, and is several."""


def surveyed(spark: SparkSession | None, ranges: Sequence[Range]) -> list[Surveyed]:
    """The survey of each range, made by Spark's workers if it is much, a task for each. Raises OSError."""
    if spark is None or sum(map(_work, ranges)) < _LOCAL:
        return [survey(one) for one in ranges]
    import pickle

    def read(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                found = pickle.dumps(survey(ranges[number]))
                yield pa.record_batch({"id": [number], "found": [found]})

    rows = made(spark, len(ranges), read, "id bigint, found binary")
    return [pickle.loads(bytes(row["found"])) for row in sorted(rows, key=lambda row: row["id"])]  # noqa: S301 our own


def _work(one: Range) -> int:
    """Bytes that a survey looks at, about."""
    if one.kind == "packed":
        return Path(one.path).stat().st_size * _PACKED
    return one.stop - one.start


def planned(spark: SparkSession | None, ranges: Sequence[Range]) -> Plan:
    """How these ranges are read. Raises OSError, CaptureError."""
    return plan(ranges, lambda found: surveyed(spark, found) if found else [])


def segment_rows(spark: SparkSession, plan: Plan, partitions: int, *, carry: bool) -> DataFrame:
    """Return the rows of segments.py of all pieces, read by a task for each, and brought together flow by
    flow in so many partitions."""
    rows = _of_pieces(spark, plan, partial(segments, links=plan.links, carry=carry), ddl(COLUMNS))
    return rows.repartition(partitions, "flow").sortWithinPartitions("flow", "first")


class TooMuch(Exception):
    """More than is to be in this process at once: what is packed may come to any size."""


def segments_here(plan: Plan, go_on: Callable[[], None] | None = None) -> Batches:
    """The same rows, flow by flow. go_on: see `write`. Raises TooMuch."""
    found: list[pa.RecordBatch] = []
    size = 0
    for piece in plan.pieces:
        for one in asking(segments(piece, plan.links, carry=False), go_on):
            found.append(one)
            size += one.nbytes
            if size > HERE:
                raise TooMuch
    order = [("flow", "ascending"), ("first", "ascending")]
    return iter(pa.Table.from_batches(found, SCHEMA).sort_by(order).to_batches())


def packets(spark: SparkSession, plan: Plan, columns: tuple[Column, ...]) -> DataFrame:
    """The rows of packet_rows.py of all pieces, with these columns."""
    names = tuple(column.name for column in columns)
    return _of_pieces(spark, plan, partial(packet_rows, columns=names), ddl(columns))


def _of_pieces(
    spark: SparkSession, plan: Plan, rows: Callable[[Piece], Batches], columns: str
) -> DataFrame:
    pieces = plan.pieces

    def read(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                yield from rows(pieces[number])

    return tasks(spark, len(pieces)).mapInArrow(read, columns)


def outcome_files(
    found: DataFrame | Batches,
    plan: Plan,
    columns: tuple[str, ...],
    folder: Path,
    *,
    frames: bool = False,
    go_on: Callable[[], None] | None = None,
) -> list[Filed]:
    """Write what the flows come to into files in a new folder: rows with the columns of outcomes.py, of
    exchanges these.

    Args:
        found: segments, flow by flow.
        plan: how the captures are read.
        columns: columns of exchanges.
        folder: where the files are made.
        frames: whether there is a row of each frame, too.
        go_on: see `write`.

    Raises:
        OSError: a file can't be read or written.
    """
    travel = travelling(columns)
    names = tuple(column.name for column in travel)
    reading = Reading(names, tuple(plan.section_groups), plan.packets, tuple(plan.secrets), frames)

    def read(batches: Batches) -> Batches:
        keys = KeyLog()
        for text in reading.secrets:
            keys.add(text)
        files = MappedFiles()
        rows = ((flow, row) for one in batches for flow, row in _rows(one))
        grouped = itertools.groupby(rows, key=lambda one: one[0])
        done = (
            outcome
            for _, group in grouped
            for outcome in outcomes((row for _, row in group), reading, keys, files)
        )
        yield from _batches(asking(done, go_on), (*HEAD, *travel))

    return file_rows(found, read, schema(columns), folder)


def parallelism(spark: SparkSession) -> int:
    """How many tasks run at once, as far as that is known."""
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 Spark Connect does not say it
        return 8


def _rows(one: pa.RecordBatch) -> Iterator[tuple[bytes, Row]]:
    columns = [one[name] for name in SCHEMA.names]
    for at in range(len(one)):
        flow, _, section_group, ends, path, packed, data = (
            column[at].as_py() for column in columns
        )
        yield flow, unpack(section_group, ends, path, data, packed)


def _batches(done: Iterable[Outcome], columns: tuple[Column, ...]) -> Batches:
    """Exchanges, and apart from them what is said beside: who asks for the one moves nothing of the other."""
    kept: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    sizes = dict.fromkeys(kept, 0)
    for one in done:
        beside, row = one.columns is None, _travelling(one)
        rows = kept[beside]
        rows.append(row)
        sizes[beside] += sum(len(row.get(name) or b"") for name in _LARGE)
        if sizes[beside] >= BATCH_BYTES or len(rows) >= MOST:
            yield _batch(rows, columns, beside=beside)
            kept[beside], sizes[beside] = [], 0
    for beside, rows in kept.items():
        if rows:
            yield _batch(rows, columns, beside=beside)


_LARGE: Final = ("request_body", "response_body", "said")
"""What a row may have much of."""


def _batch(
    rows: list[dict[str, Any]], columns: tuple[Column, ...], *, beside: bool
) -> pa.RecordBatch:
    if not beside:
        return batch(rows, columns)
    head = batch(rows, HEAD)
    schema = arrow(columns)
    nulls = (pa.nulls(len(rows), kind) for kind in schema.types[len(HEAD) :])
    return pa.RecordBatch.from_arrays([*head.columns, *nulls], schema=schema)


def _travelling(one: Outcome) -> dict[str, Any]:
    place = one.place
    said = json.dumps(one.said, default=str) if one.columns is None else None
    return {
        "kind": one.kind,
        "section_group": one.section_group,
        "of": one.of,
        "at": place.at,
        "flow": place.flow,
        "within": place.within,
        "said": said,
        **(one.columns or {}),
    }
