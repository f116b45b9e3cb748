"""The stages of reading, on Spark or in this process: each is a generator of Arrow batches.

Without a session they run in this process, which finishes small captures before Spark would have started. The
functions contain all that a worker needs, so remote workers need our packages and the files, and nothing from
the driver.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.dataset as ds

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.outcomes import HEAD, Outcome, Position, schema, travelling
from barnabas.pipeline.reading.packet_rows import WRITTEN, packet_rows
from barnabas.pipeline.reading.share_outcomes import CaptureSettings, outcomes
from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables.analysis_tables import write_by_tasks
from barnabas.pipeline.tables.parquet import Batches, TaskFile, file_rows, numbers, tasks
from barnabas.stop_signals import cancellable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_BYTES: Final = 8 << 20
"""Bytes of bodies, or of details of other outcomes, that end a batch."""
MOST: Final = 2000
"""The most rows of such a batch."""


def write_packets(
    spark: SparkSession | None, paths: Sequence[Path], readers: int, folder: Path
) -> None:
    """Write the rows of packet_rows.py into a folder. Raises OSError.

    Args:
        spark: None: everything is done in this process.
        paths: The files of the capture.
        readers: The number of tasks.
        folder: The folder, which is replaced.
    """
    schema = arrow(WRITTEN[1:])

    def read(batches: Batches) -> Batches:
        for number in numbers(batches):
            with suppress(CaptureError):  # the table `errors` has it
                yield from packet_rows(paths, schema.names, share=Share(number, readers))

    write_by_tasks(tasks(spark, readers), read, folder, schema)


def outcome_files(
    spark: SparkSession | None,
    capture: CaptureSettings,
    readers: int,
    folder: Path,
    go_on: Callable[[], None] | None = None,
) -> list[TaskFile]:
    """Write the outcomes of a capture into files in a new folder, with the columns of outcomes.py.

    Args:
        spark: None: everything is done in this process.
        capture: The capture, and the columns of exchanges.
        readers: The shares of the capture that are read, each by a task.
        folder: The folder for the files.
        go_on: See `write`.

    Raises:
        OSError: A file can't be read or written.
    """
    columns = (*HEAD, *travelling(capture.columns))

    def read(batches: Batches) -> Batches:
        for number in numbers(batches):
            read_outcomes = outcomes(capture, Share(number, readers))
            yield from _batches(cancellable(read_outcomes, go_on), columns)

    return file_rows(tasks(spark, readers), read, schema(capture.columns), folder)


def parallelism(spark: SparkSession) -> int:
    """Return the number of tasks that run at once, as far as it is known."""
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 Spark Connect does not say it
        return 8


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
        "section": outcome.section,
        "connection_key": outcome.connection_key,
        "at": position.at,
        "flow": position.flow,
        "within": position.within,
        "details": details,
        **(outcome.columns or {}),
    }


_FACTS: Final = ("topic", "producer", "broker", "forgotten", "unread", "capture")
"""Kinds of outcomes with details that `gather` needs; several connections may yield the same names."""


def fact_outcomes(filed: Sequence[TaskFile]) -> Iterator[Outcome]:
    """Yield the outcomes in files from which facts are gathered.

    This process reads them, since they are few and jobs take longer to start.
    """
    chosen = ds.field("kind").isin(["connection", "flow", "loss", *_FACTS])
    columns = ["kind", "section", "connection_key", *Position._fields, "details"]
    names = set()
    for part in _dataset(filed).to_batches(columns=columns, filter=chosen):
        for row in part.to_pylist():
            kind, text = row["kind"], row["details"]
            if kind in ("topic", "producer", "broker"):
                if (kind, text) in names:
                    continue
                names.add((kind, text))
            values = json.loads(text) if kind in _FACTS else {}
            position = Position(row["at"], row["flow"], row["within"])
            yield Outcome(kind, row["section"], row["connection_key"], position, values)


def counts(filed: Sequence[TaskFile]) -> dict[str, int]:
    """Return the number of rows of each kind."""
    counter: Counter[str] = Counter()
    for part in _dataset(filed).to_batches(columns=["kind"]):
        for item in part["kind"].value_counts().to_pylist():
            counter[item["values"]] += item["counts"]
    return counter


def _dataset(filed: Sequence[TaskFile]) -> ds.Dataset:
    return ds.dataset([file.path for file in filed])
