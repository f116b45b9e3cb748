"""The stages of reading, on Spark or in this process: each is a generator of Arrow batches.

Without a session they run in this process, which finishes small captures before Spark would have started. The
functions contain all that a worker needs, so remote workers need our packages and the files, and nothing from
the driver.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.captures.tls.keylog import KeyLog
from barnabas.pipeline.reading.file_bytes import MappedFiles
from barnabas.pipeline.reading.flows import FlowSettings, outcomes
from barnabas.pipeline.reading.outcomes import HEAD, Outcome, Position, schema, travelling
from barnabas.pipeline.reading.packet_rows import packet_rows
from barnabas.pipeline.reading.plan import Piece, Plan, plan
from barnabas.pipeline.reading.ranges import Range
from barnabas.pipeline.reading.runs import SegmentRow, unpack
from barnabas.pipeline.reading.survey import RangeSurvey, survey
from barnabas.pipeline.reading.tcp_segments import COLUMNS, SCHEMA, segments
from barnabas.pipeline.rows.columns import Column, arrow, ddl
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables.parquet import Batches, TaskFile, file_rows, rows_of_tasks, tasks
from barnabas.stop_signals import cancellable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH_BYTES: Final = 8 << 20
"""Bytes of bodies, or of details of other outcomes, that end a batch."""
MOST: Final = 2000
"""The most rows of such a batch."""
_LOCAL: Final = 3 << 30
"""Bytes of captures up to which the driver surveys them itself: a job takes as long to start."""
HERE: Final = 64 << 20
"""Bytes of segments, with the payload of packed files, that this process retains."""
_PACKED: Final = 4
"""The weight of a byte of a packed file, which has to be decompressed and grows."""


def surveyed(spark: SparkSession | None, ranges: Sequence[Range]) -> list[RangeSurvey]:
    """Return the survey of each range; Spark's workers make it if there is much data. Raises OSError."""
    if spark is None or sum(map(_work, ranges)) < _LOCAL:
        return [survey(each) for each in ranges]
    import pickle

    def read(batches: Batches) -> Batches:
        for numbers in batches:
            for number in numbers["id"].to_pylist():
                pickled = pickle.dumps(survey(ranges[number]))
                yield pa.record_batch({"id": [number], "found": [pickled]})

    rows = rows_of_tasks(spark, len(ranges), read, "id bigint, found binary")
    return [pickle.loads(bytes(row["found"])) for row in sorted(rows, key=lambda row: row["id"])]  # noqa: S301 our own


def _work(file_range: Range) -> int:
    """Return the approximate number of bytes that a survey reads."""
    if file_range.kind == "packed":
        return Path(file_range.path).stat().st_size * _PACKED
    return file_range.stop - file_range.start


def planned(spark: SparkSession | None, ranges: Sequence[Range]) -> Plan:
    """Return the plan for reading these ranges. Raises OSError, CaptureError."""
    return plan(
        ranges, lambda missing_surveys: surveyed(spark, missing_surveys) if missing_surveys else []
    )


def segment_rows(spark: SparkSession, plan: Plan, partitions: int, *, carry: bool) -> DataFrame:
    """Return the rows of tcp_segments.py of all pieces, grouped by flow in `partitions` partitions.

    Each piece is read by a task.
    """
    rows = _of_pieces(spark, plan, partial(segments, links=plan.links, carry=carry), ddl(COLUMNS))
    return rows.repartition(partitions, "flow").sortWithinPartitions("flow", "first")


class TooMuch(Exception):
    """More data than this process may hold: compressed data may have any size."""


def segments_here(plan: Plan, go_on: Callable[[], None] | None = None) -> Batches:
    """Return the rows of tcp_segments.py, grouped by flow, without Spark. Raises TooMuch.

    `go_on`: see `write`.
    """
    retained: list[pa.RecordBatch] = []
    size = 0
    for piece in plan.pieces:
        for rows in cancellable(segments(piece, plan.links, carry=False), go_on):
            retained.append(rows)
            size += rows.nbytes
            if size > HERE:
                raise TooMuch
    order = [("flow", "ascending"), ("first", "ascending")]
    return iter(pa.Table.from_batches(retained, SCHEMA).sort_by(order).to_batches())


def packets(spark: SparkSession, plan: Plan, columns: tuple[Column, ...]) -> DataFrame:
    """Return the rows of packet_rows.py of all pieces, with these columns."""
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
    segments: DataFrame | Batches,
    plan: Plan,
    columns: tuple[str, ...],
    folder: Path,
    *,
    frames: bool = False,
    go_on: Callable[[], None] | None = None,
) -> list[TaskFile]:
    """Write the outcomes of flows into files in a new folder, with the columns of outcomes.py.

    Args:
        segments: Segments, grouped by flow.
        plan: The plan for reading the captures.
        columns: Columns of exchanges.
        folder: The folder for the files.
        frames: Whether to write a row of each frame, too.
        go_on: See `write`.

    Raises:
        OSError: A file can't be read or written.
    """
    travel = travelling(columns)
    names = tuple(column.name for column in travel)
    reading = FlowSettings(
        names, tuple(plan.section_groups), plan.packets, tuple(plan.secrets), frames
    )

    def read(batches: Batches) -> Batches:
        keys = KeyLog()
        for text in reading.secrets:
            keys.add(text)
        files = MappedFiles()
        rows = ((flow, row) for batch in batches for flow, row in _rows(batch))
        grouped = itertools.groupby(rows, key=lambda batch: batch[0])
        done = (
            outcome
            for _, group in grouped
            for outcome in outcomes((row for _, row in group), reading, keys, files)
        )
        yield from _batches(cancellable(done, go_on), (*HEAD, *travel))

    return file_rows(segments, read, schema(columns), folder)


def parallelism(spark: SparkSession) -> int:
    """Return the number of tasks that run at once, as far as it is known."""
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 Spark Connect does not say it
        return 8


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[bytes, SegmentRow]]:
    columns = [batch[name] for name in SCHEMA.names]
    for at in range(len(batch)):
        flow, _, section_group, ends, path, packed, data = (
            column[at].as_py() for column in columns
        )
        yield flow, unpack(section_group, ends, path, data, packed)


def _batches(done: Iterable[Outcome], columns: tuple[Column, ...]) -> Batches:
    """Yield batches of exchanges, and separate batches of other outcomes.

    Readers of one of them need not read the other.
    """
    gathered: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    sizes = dict.fromkeys(gathered, 0)
    for outcome in done:
        other, row = outcome.columns is None, _travelling(outcome)
        rows = gathered[other]
        rows.append(row)
        sizes[other] += sum(len(row.get(name) or b"") for name in _LARGE)
        if sizes[other] >= BATCH_BYTES or len(rows) >= MOST:
            yield _batch(rows, columns, other=other)
            gathered[other], sizes[other] = [], 0
    for other, rows in gathered.items():
        if rows:
            yield _batch(rows, columns, other=other)


_LARGE: Final = ("request_body", "response_body", "details")
"""Columns that may be large."""


def _batch(
    rows: list[dict[str, Any]], columns: tuple[Column, ...], *, other: bool
) -> pa.RecordBatch:
    if not other:
        return batch(rows, columns)
    head = batch(rows, HEAD)
    schema = arrow(columns)
    nulls = (pa.nulls(len(rows), kind) for kind in schema.types[len(HEAD) :])
    return pa.RecordBatch.from_arrays([*head.columns, *nulls], schema=schema)


def _travelling(outcome: Outcome) -> dict[str, Any]:
    position = outcome.position
    details = json.dumps(outcome.details, default=str) if outcome.columns is None else None
    return {
        "kind": outcome.kind,
        "section_group": outcome.section_group,
        "connection_key": outcome.connection_key,
        "at": position.at,
        "flow": position.flow,
        "within": position.within,
        "details": details,
        **(outcome.columns or {}),
    }


_NAMES: Final = ("topic", "producer", "broker")
"""Kinds of outcomes that several flows may yield alike."""


def fact_outcomes(filed: Sequence[TaskFile]) -> Iterator[Outcome]:
    """Yield the outcomes in files that are no exchange, and from which facts are gathered.

    This process reads them, since they are few and jobs take longer to start.
    """
    chosen = ds.field("kind").isin(["connection", "flow", "loss", *_NAMES])
    columns = ["kind", "section_group", "connection_key", *Position._fields, "details"]
    names = set()
    for part in _dataset(filed).to_batches(columns=columns, filter=chosen):
        for row in part.to_pylist():
            kind, text = row["kind"], row["details"]
            if kind in _NAMES:
                if (kind, text) in names:
                    continue
                names.add((kind, text))
            values = json.loads(text) if kind in _NAMES else {}
            position = Position(row["at"], row["flow"], row["within"])
            yield Outcome(kind, row["section_group"], row["connection_key"], position, values)


def counts(filed: Sequence[TaskFile]) -> dict[str, int]:
    """Return the number of rows of each kind."""
    counter: Counter[str] = Counter()
    for part in _dataset(filed).to_batches(columns=["kind"]):
        for item in part["kind"].value_counts().to_pylist():
            counter[item["values"]] += item["counts"]
    return counter


def _dataset(filed: Sequence[TaskFile]) -> ds.Dataset:
    return ds.dataset([file.path for file in filed])
