"""From capture files to tables on disk: Parquet, for Spark and whatever else reads it.

exchanges: a row each (EXCHANGES), and the decoded bodies as `body` VARIANT {request, response}; in folders
by capture and day, sorted by api and time. inside (INSIDE): what lies within their bytes. errors (ERRORS):
what could not be read. connections, notes: see `pipeline/reading/side_tables.py`. quality: how much was read.
packets, frames: on request, since they have more rows than all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from barnabas.endings import asking
from barnabas.pipeline.reading.completing import Completion
from barnabas.pipeline.reading.facts import Facts, gather
from barnabas.pipeline.reading.file_order import sorted_paths
from barnabas.pipeline.reading.outcomes import ALL
from barnabas.pipeline.reading.packet_rows import WRITTEN
from barnabas.pipeline.reading.plan import Plan
from barnabas.pipeline.reading.ranges import SIZE, memory, ranges
from barnabas.pipeline.reading.side_tables import (
    CONNECTIONS,
    NOTES,
    connection_row,
    error_row,
    fault_rows,
    forgotten_rows,
    note_rows,
)
from barnabas.pipeline.rows.bodies import BODY, Names, body_batch, json_array
from barnabas.pipeline.rows.columns import BODY_JSON, ERRORS, EXCHANGES, Column, arrow, ddl
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import FRAMES, frame_row
from barnabas.pipeline.rows.inside import INSIDE, REREAD, inside_row, internal
from barnabas.pipeline.tables import folders
from barnabas.pipeline.tables.keeping import by_tasks
from barnabas.pipeline.tables.parquet import Batches, Filed, Table, parts, write_tables
from barnabas.pipeline.tables.partitioned_parquet import ZSTD
from barnabas.pipeline.tables.quality import QUALITY, Read, quality_row, sums
from barnabas.pipeline.tables.spark_stages import (
    BATCH_BYTES,
    MOST,
    outcome_files,
    packets,
    parallelism,
    planned,
    segment_rows,
    segments_here,
)
from barnabas.pipeline.tables.travelled import counts, said
from barnabas.pipeline.tables.variants import lost_bodies
from barnabas.specs.jsonform import Blob, elided, uuid_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": EXCHANGES,
    "inside": INSIDE,
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
    "quality": QUALITY,
    "packets": WRITTEN,
    "frames": FRAMES,
}
"""By name; exchanges have `body` behind their columns."""

FOLDERS: Final = ("capture", "day")
"""By which the rows of exchanges are in folders; those of the others by capture alone."""

ORDER: Final = ("api", "ts_ns")
"""By which rows of exchanges are sorted in a file: who asks for an API passes over row groups of others."""

LARGE, SMALL = 256 << 20, 4 << 20
"""Bytes of captures whose flows are one task's: at most, as far as they can be parted, and at least."""

ROWS, BODIES = 400_000, 128 << 20
"""Exchanges, and bytes of captures whose bodies are, written by one task at most: each writes files of its
own."""
SHARE: Final = 4
"""Into how many parts of that, at most, what is there is parted so that no task waits for others."""

PART: Final = 2 << 20
"""Bytes of frames whose bodies are made VARIANT at once."""

STEPS: Final = ("surveying", "reading flows", "gathering names", "writing tables")

Progress = Callable[[int, int, str], None]
"""Told which step begins: its number from 0, how many there are, and what it is."""


Make = Callable[[Any, Any, str], dict[str, Any]]
"""Makes a row of what was said: (that, the number of its connection or None, capture)."""


class Written(NamedTuple):
    """What was written."""

    capture: str
    """What it is called in the tables."""
    packets: int
    exchanges: int
    errors: int
    connections: int


def write(
    spark: SparkSession | None,
    captures: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    *,
    name: str | None = None,
    secrets: Sequence[bytes] = (),
    size: int = SIZE,
    bodies: bool = True,
    json_bodies: bool = False,
    blob: Blob = elided,
    also: Collection[str] = (),
    go_on: Callable[[], None] | None = None,
) -> Written:
    """Write what capture files hold into the tables in a folder. The files are read as one capture.

    What the tables had of this capture is replaced, of others nothing changes. If the run is killed, the
    tables are as they were, or the next run ends what was begun. name: what the capture is called
    (None: like its first file). secrets: texts of key logs, beside those in the files. size: bytes of
    files that a task reads. bodies: whether `body` is made; without it it is null, and all takes far less.
    json_bodies: whether they are also written as JSON text. blob: how bytes in them are written.
    spark: None: all is done in this process, for little. also: tables of `folders.ON_REQUEST` (packets want
    Spark); of those that are not asked for, what there was of this capture
    goes. go_on: called often where all is done in this process: what it raises ends the run.

    Raises OSError, CaptureError if a file is no capture, ValueError if there is none or `out` is no plain
    path, and without Spark TooMuch.
    """
    if not captures:
        raise ValueError("no capture files")
    folders.checked_path(out)
    step = iter(range(len(STEPS)))

    def begin() -> None:
        number = next(step)
        if progress is not None:
            progress(number, len(STEPS), STEPS[number])

    begin()
    paths = sorted_paths(captures)
    run = folders.begin(out)
    try:
        capture = name or folders.name_for(out, paths[0])
        made = planned(spark, ranges(paths, size))
        made.secrets += secrets
        begin()
        wanted = ALL if bodies else EXCHANGES
        filed = _flows(spark, paths, made, wanted, run.folder, go_on, frames="frames" in also)
        begin()
        facts, count = gather(said(filed), made.section_groups), counts(filed)
        begin()
        made_of = _tables(facts, capture, blob if bodies else None, json_bodies=json_bodies)
        chosen = [
            one if go_on is None else one._replace(make=_asking(one.make, go_on))
            for one in made_of
            if one.kind is None or one.kind in count
        ]
        # bodies are many times as large as all else
        most = BODIES // BATCH_BYTES if bodies else ROWS // MOST
        here = sum(one.groups for one in filed) // (1 if spark is None else parallelism(spark))
        groups = min(most, max(most // SHARE, here))
        written = write_tables(spark, parts(filed, groups), chosen, run.folder)
        (run.folder / "exchanges").mkdir(exist_ok=True)
        lost = lost_bodies(written, capture) if bodies else []
        lost += forgotten_rows(facts, capture)
        _add(run.folder / "errors", ERRORS, [*fault_rows(made, capture), *lost])
        _add(run.folder / "inside", INSIDE, [])
        _add(run.folder / "connections", CONNECTIONS, [])
        _add(run.folder / "notes", NOTES, note_rows(made, capture))
        what = Read(len(paths), _bytes(paths), made.packets)
        errors = sums(ds.dataset(run.folder / "errors"))
        files = list((run.folder / "exchanges").rglob("*.parquet"))
        _add(run.folder / "quality", QUALITY, [quality_row(capture, what, errors, files)])
        if "packets" in also and spark is not None:
            by_tasks(packets(spark, made, WRITTEN[1:]), run.folder / "packets", WRITTEN[1:])
        for table in folders.ON_REQUEST:
            if table not in also and folders.folder_of(out, table, capture).exists():
                (run.folder / table).mkdir()
        folders.finish(out, run, capture, str(paths[0].resolve()))
    except BaseException:
        folders.give_up(run)
        raise
    return Written(
        capture,
        made.packets,
        count.get("exchange", 0),
        count.get("error", 0) + len(made.faults) + len(lost),
        count.get("connection", 0),
    )


def _asking(
    make: Callable[[Batches], Batches], go_on: Callable[[], None]
) -> Callable[[Batches], Batches]:
    return lambda batches: asking(make(batches), go_on)


def _bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def read(spark: SparkSession, out: Path, table: str) -> DataFrame:
    """A table of a folder, of all captures in it. Raises LookupError for one that there is not."""
    return spark.read.schema(ddl_of(table)).parquet(str(out / table))


def ddl_of(table: str) -> str:
    """All columns of a table, as Spark's DDL. Raises LookupError for one that there is not."""
    behind = f", `body` variant, {ddl((BODY_JSON,))}" if table == "exchanges" else ""
    return ddl(TABLES[table]) + behind


def with_bodies(schema: pa.Schema, *, json_bodies: bool) -> pa.Schema:
    """The schema of exchanges with what stands behind their columns."""
    whole = schema.append(pa.field("body", BODY))
    return whole.append(pa.field(BODY_JSON.name, pa.string())) if json_bodies else whole


def decoded(
    rows: pa.RecordBatch, wanted: Sequence[str], names: Names, schema: pa.Schema, blob: Blob
) -> pa.RecordBatch:
    """Exchanges that travel as rows of the table: these columns, and behind them the bodies as the schema has
    them. names: of topics, by id. blob: how bytes are written."""
    columns = [rows[name] for name in wanted]
    columns.append(body_batch(rows, names, blob))
    if BODY_JSON.name in schema.names:
        columns.append(json_array(columns[-1]))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _flows(
    spark: SparkSession | None,
    paths: Sequence[Path],
    made: Plan,
    wanted: tuple[Column, ...],
    run: Path,
    go_on: Callable[[], None] | None,
    *,
    frames: bool,
) -> list[Filed]:
    """All that travels: exchanges with these columns, and what is said beside them."""
    columns = tuple(column.name for column in wanted)
    travelling = run / "_travelling"
    if spark is None:
        here = segments_here(made, go_on)
        return outcome_files(here, made, columns, 1, travelling, frames=frames, go_on=go_on)
    total = _bytes(paths)
    # payload is looked up in the files as long as they stay in the system's cache meanwhile
    carry = total > memory() // 4
    shares = max(-(-total // LARGE), min(4 * parallelism(spark), -(-total // SMALL)))
    rows = segment_rows(spark, made, carry=carry)
    return outcome_files(rows, made, columns, shares, travelling, frames=frames)


def portions(one: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch cut so that the bodies in each part are not much."""
    begin = size = 0
    sizes = [one[name].to_pylist() for name in ("request_size", "response_size")]
    for end, (request, response) in enumerate(zip(*sizes, strict=True), 1):
        size += request + (response or 0)
        if size >= PART or end == len(one):
            yield one.slice(begin, end - begin)
            begin, size = end, 0


def _tables(
    facts: Facts, capture: str, blob: Blob | None, *, json_bodies: bool
) -> tuple[Table, ...]:
    """How what travels becomes tables; without `blob` there are no bodies. To be pickled."""
    schema = _schema("exchanges")
    whole = with_bodies(schema, json_bodies=json_bodies)

    def hot(batches: Batches) -> Batches:
        completion = Completion(facts, capture)
        for one in batches:
            yield completion.complete(one, EXCHANGES).drop_columns("capture")

    def full(batches: Batches) -> Batches:
        assert blob is not None  # noqa: S101
        completion = Completion(facts, capture)
        for one in (part for all_of in batches for part in portions(all_of)):
            yield decoded(completion.complete(one, ALL), schema.names, facts.topics, whole, blob)

    def small(make: Make, columns: tuple[Column, ...]) -> Callable[[Batches], Batches]:
        def rows(batches: Batches) -> Batches:
            for one in batches:
                texts = zip(*(one[name].to_pylist() for name in _SAID), strict=True)
                made = (
                    make(json.loads(text), facts.connections.get((section_group, of)), capture)
                    for text, section_group, of in texts
                )
                yield batch(made, columns).drop_columns("capture")

        return rows

    by_id = internal(facts.topics if blob else {})
    names = {uuid_text(topic): name for topic, name in facts.topics.items()}

    def inside(batches: Batches) -> Batches:
        for one in batches:
            of_kind = {kind: one.filter(pc.equal(one["kind"], kind)) for kind in _WITHIN}
            texts = zip(*(of_kind["inside"][name].to_pylist() for name in _SAID), strict=True)
            read = (((section_group, of), json.loads(text)) for text, section_group, of in texts)
            rows = [(of, row) for of, row in read if not by_id.missed(row)]
            if by_id.names:
                rows += by_id.rows(of_kind["exchange"], facts.topics)
            made = (inside_row(row, facts.connections[of], capture, names) for of, row in rows)
            yield batch(made, INSIDE).drop_columns("capture")

    smaller: tuple[tuple[str, str, Make], ...] = (
        ("errors", "error", error_row),
        ("frames", "frame", frame_row),
        ("connections", "connection", connection_row),
    )
    return (
        Table("exchanges", "exchange", whole, None, full, FOLDERS[1:], ORDER)
        if blob
        else Table("exchanges", "exchange", schema, None, hot, FOLDERS[1:], ORDER),
        # if there may be some to be read again, they are, too
        Table("inside", None, _schema("inside"), [*{*_SAID, *REREAD, "topics"}], inside)
        if by_id.names
        else Table("inside", "inside", _schema("inside"), _SAID, inside),
        *(
            Table(name, kind, _schema(name), _SAID, small(make, TABLES[name]))
            for name, kind, make in smaller
        ),
    )


_SAID: Final = ["said", "section_group", "of"]
_WITHIN: Final = ("inside", "exchange")


def _schema(table: str) -> pa.Schema:
    """Of what is in the files of a capture, and of `FOLDERS[1:]`."""
    return arrow(tuple(column for column in TABLES[table] if column.name != "capture"))


def _add(folder: Path, columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> None:
    """A file with what the driver itself knows; an empty one only if there is no other."""
    if rows or not folder.exists():
        folder.mkdir(exist_ok=True)
        table = pa.Table.from_batches([batch(rows, columns)]).drop_columns("capture")
        pq.write_table(table, folder / "part-driver.parquet", compression=ZSTD)
