"""The stages of reading, on Spark or in this process: each is a generator of Arrow batches.

Without a session they run in this process, which finishes small captures before Spark would have started. The
functions contain all that a worker needs, so remote workers need our packages and the files, and nothing from
the driver.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.tcp.share import Share
from barnabas.pipeline.reading.outcomes import HEAD, Outcome, Position, travelling
from barnabas.pipeline.reading.packet_rows import WRITTEN, packet_rows
from barnabas.pipeline.reading.share_outcomes import CaptureSettings, outcomes
from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.tables.parquet import Batches, Table, write_in_tasks
from barnabas.pipeline.tables.partitioned_parquet import WrittenFile
from barnabas.stop_signals import cancellable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_BYTES: Final = 8 << 20
"""Bytes of bodies, or of details of other outcomes, that end a batch."""
MOST: Final = 2000
"""The most rows of such a batch."""


def packets_table(paths: Sequence[Path]) -> Table:
    """Return the table of packet_rows.py, without the capture. The inputs of its tasks are shares."""
    schema = arrow(WRITTEN[1:])

    def rows(share: Share) -> Batches:
        with suppress(CaptureError):  # the table `errors` has it
            yield from packet_rows(paths, schema.names, share=share)

    return Table("packets", schema, rows)


def outcome_files(
    spark: SparkSession | None,
    capture: CaptureSettings,
    shares: Sequence[Share],
    folder: Path,
    go_on: Callable[[], None] | None = None,
) -> ds.FileSystemDataset:
    """Write the outcomes of a capture into files in a new folder, with the columns of outcomes.py.

    Each task writes a file, with a row group for each batch.

    Args:
        spark: None: everything is done in this process.
        capture: The capture, and the columns of exchanges.
        shares: The shares of the capture, each of which a task reads.
        folder: The folder for the files.
        go_on: See `tables.write`.

    Raises:
        OSError: A file can't be read or written.
    """
    columns = (*HEAD, *travelling(capture.columns))
    folder.mkdir()

    def write(share: Share) -> Iterator[WrittenFile]:
        path = folder / f"{uuid.uuid4().hex}.parquet"
        rows = cancellable(outcomes(capture, share), go_on)
        with pq.ParquetWriter(path, arrow(columns), compression="lz4") as writer:
            for each in _batches(rows, columns):
                writer.write_batch(each)
        yield WrittenFile(path, nulls=False)

    return ds.dataset([str(file.path) for file in write_in_tasks(spark, shares, write)])


def parallelism(spark: SparkSession) -> int:
    """Return the number of tasks that run at once, as far as it is known."""
    try:
        return spark.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 Spark Connect does not say it
        return 8


_LARGE: Final = ("request_body", "response_body", "details")
"""Columns that may be large."""


def _batches(done: Iterable[Outcome], columns: tuple[Column, ...]) -> Batches:
    """Yield batches of exchanges, and separate batches of other outcomes.

    Readers of one of them need not read the other.
    """
    gathered: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    sizes = dict.fromkeys(gathered, 0)
    for outcome in done:
        is_exchange, row = outcome.columns is not None, _row(outcome)
        rows = gathered[is_exchange]
        rows.append(row)
        sizes[is_exchange] += sum(len(row.get(name) or b"") for name in _LARGE)
        if sizes[is_exchange] >= BATCH_BYTES or len(rows) >= MOST:
            yield batch(rows, columns)
            gathered[is_exchange], sizes[is_exchange] = [], 0
    for rows in filter(None, gathered.values()):
        yield batch(rows, columns)


def _row(outcome: Outcome) -> dict[str, Any]:
    details = json.dumps(outcome.details, default=str) if outcome.columns is None else None
    return {
        "kind": outcome.kind,
        "section": outcome.section,
        "connection_key": outcome.connection_key,
        **outcome.position._asdict(),
        "details": details,
        **(outcome.columns or {}),
    }


_FACTS: Final = ("topic", "producer", "broker", "forgotten", "unread", "capture")
"""Kinds of outcomes with details that `gather` needs; several connections may yield the same names."""


def fact_outcomes(rows: ds.Dataset) -> Iterator[Outcome]:
    """Yield the outcomes in files from which facts are gathered.

    This process reads them, since they are few and jobs take longer to start.
    """
    chosen = ds.field("kind").isin(["connection", "flow", "loss", *_FACTS])
    columns = ["kind", "section", "connection_key", *Position._fields, "details"]
    names = set()
    for part in rows.to_batches(columns=columns, filter=chosen):
        for row in part.to_pylist():
            kind, text = row["kind"], row["details"]
            if kind in ("topic", "producer", "broker"):
                if (kind, text) in names:
                    continue
                names.add((kind, text))
            values = json.loads(text) if kind in _FACTS else {}
            position = Position(row["at"], row["flow"], row["within"])
            yield Outcome(kind, row["section"], row["connection_key"], position, values)


def counts(rows: ds.Dataset) -> Counter[str]:
    """Return the number of rows of each kind."""
    counter: Counter[str] = Counter()
    for part in rows.to_batches(columns=["kind"]):
        for item in part["kind"].value_counts().to_pylist():
            counter[item["values"]] += item["counts"]
    return counter
