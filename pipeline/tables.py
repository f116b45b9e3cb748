"""From capture files to tables on disk: Parquet, for Spark and whatever else reads it.

exchanges: a row each (EXCHANGES), and the decoded bodies as `body` VARIANT {request, response}; in folders
by capture, day and api. errors (ERRORS): what could not be read. connections, notes: see `smaller.py`.
packets, frames: on request, since they have more rows than all others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pipeline import folders
from pipeline.bodies import body_texts
from pipeline.columns import ERRORS, EXCHANGES, Column, arrow, ddl
from pipeline.completing import Completion
from pipeline.facts import Facts, Said, gather
from pipeline.frame_rows import FRAMES, frame_row
from pipeline.frames import outcome_rows, packets, parallelism, planned, segment_rows
from pipeline.outcomes import ALL, Place
from pipeline.packet_rows import WRITTEN
from pipeline.plan import Plan, sorted_paths
from pipeline.ranges import SIZE, memory, ranges
from pipeline.rows import batch
from pipeline.smaller import CONNECTIONS, NOTES, connection_row, error_row, fault_rows, note_rows
from pipeline.variants import FRUGAL, lost_bodies, write_exchanges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": EXCHANGES,
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
    "packets": WRITTEN,
    "frames": FRAMES,
}
"""By name; exchanges have `body` behind their columns."""

FOLDERS: Final = ("capture", "day", "api")
"""By which the rows of exchanges are in folders; those of the others by capture alone."""

LARGE, SMALL = 256 << 20, 4 << 20
"""Bytes of captures whose flows are one task's: at most, as far as they can be parted, and at least."""

ROWS, BODIES = 50_000, 32 << 20
"""Exchanges, and bytes of captures, that are written by one task: each writes files of its own."""

PART: Final = 2 << 20
"""Bytes of frames whose bodies are made JSON at once; that is several times as long."""

_TRAVELLING: Final = {"compression": "lz4", **FRUGAL}
_ROW_BY_ROW: Final = "spark.sql.parquet.enableVectorizedReader"
"""Else Spark keeps 4,096 rows at once, of which each may have megabytes."""

STEPS: Final = ("surveying", "reading flows", "gathering names", "writing tables")

Progress = Callable[[int, int, str], None]
"""Told which step begins: its number from 0, how many there are, and what it is."""


Make = Callable[[Any, int, int, Facts, str], dict[str, Any]]
"""Makes a row of what was said: (that, epoch, connection as it travelled, facts, capture)."""


class Written(NamedTuple):
    """What was written."""

    capture: str
    """What it is called in the tables."""
    packets: int
    exchanges: int
    errors: int
    connections: int


def write(
    spark: SparkSession,
    captures: Sequence[Path],
    out: Path,
    progress: Progress | None = None,
    *,
    name: str | None = None,
    secrets: Sequence[bytes] = (),
    size: int = SIZE,
    bodies: bool = True,
    also: Collection[str] = (),
) -> Written:
    """Write what capture files hold into the tables in a folder. The files are read as one capture.

    What the tables had of this capture is replaced, of others nothing changes. If the run is killed, the
    tables are as they were, or the next run ends what was begun. name: what the capture is called
    (None: like its first file). secrets: texts of key logs, beside those in the files. size: bytes of
    files that a task reads. bodies: whether `body` is made; without it it is null, and all takes far less.
    also: tables of `folders.ON_REQUEST`; of those that are not asked for, what there was of this capture
    goes.

    Raises OSError, CaptureError if a file is no capture, and ValueError if there is none or `out` is no
    plain path.
    """
    if not captures:
        raise ValueError("no capture files")
    folders.plain(out)
    step = iter(range(len(STEPS)))

    def begin() -> None:
        number = next(step)
        if progress is not None:
            progress(number, len(STEPS), STEPS[number])

    begin()
    paths = sorted_paths(captures)
    run = folders.begin(out)
    vectorized = spark.conf.get(_ROW_BY_ROW, "true")
    try:
        spark.conf.set(_ROW_BY_ROW, "false")
        capture = name or folders.name_for(out, paths[0])
        made = planned(spark, ranges(paths, size))
        made.secrets += secrets
        begin()
        travelling = run.folder / "_travelling"
        found = _flows(spark, paths, made, ALL if bodies else EXCHANGES, frames="frames" in also)
        found.write.options(**_TRAVELLING).parquet(str(travelling))
        found = spark.read.schema(found.schema).parquet(str(travelling))
        begin()
        facts, counts = gather(_said(travelling), made.epochs), _counts(travelling)
        begin()
        tasks = 1 + counts.get("exchange", 0) // ROWS + _bytes(paths) // BODIES
        lost = _write_exchanges(found, tasks, facts, capture, run.folder, bodies=bodies)
        if lost:
            errors = lost_bodies(spark, run.folder / "exchanges", capture)
            errors.drop("capture").write.parquet(str(run.folder / "errors"))
        _write_smaller(found, counts, facts, made, capture, run.folder)
        if "packets" in also:
            packets(spark, made, WRITTEN[1:]).write.parquet(str(run.folder / "packets"))
        for table in folders.ON_REQUEST:
            if table not in also and folders.folder_of(out, table, capture).exists():
                (run.folder / table).mkdir()
        folders.finish(out, run, capture, str(paths[0].resolve()))
    except BaseException:
        folders.give_up(run)
        raise
    finally:
        spark.conf.set(_ROW_BY_ROW, vectorized or "true")
    return Written(
        capture,
        made.packets,
        counts.get("exchange", 0),
        counts.get("error", 0) + len(made.faults) + lost,
        counts.get("connection", 0),
    )


def _bytes(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def read(spark: SparkSession, out: Path, table: str) -> DataFrame:
    """A table of a folder, of all captures in it. Raises LookupError for one that there is not."""
    columns = TABLES[table]
    schema = ddl(columns) + (", `body` variant" if table == "exchanges" else "")
    return spark.read.schema(schema).parquet(str(out / table))


def _flows(
    spark: SparkSession,
    paths: Sequence[Path],
    made: Plan,
    wanted: tuple[Column, ...],
    *,
    frames: bool,
) -> DataFrame:
    """All that travels: exchanges with these columns, and what is said beside them."""
    total = _bytes(paths)
    # payload is looked up in the files as long as they stay in the system's cache meanwhile
    carry = total > memory() // 4
    shares = max(-(-total // LARGE), min(2 * parallelism(spark), -(-total // SMALL)))
    columns = tuple(column.name for column in wanted)
    rows = segment_rows(spark, made, carry=carry)
    return outcome_rows(rows, made, columns, shares, frames=frames)


_NAMES: Final = ("topic", "producer", "broker")
"""What many flows say alike."""


def _said(travelling: Path) -> Iterator[Said]:
    """Read here, and not by Spark: it is little, and jobs take longer to begin than this to be read."""
    wanted = ds.field("kind").isin(["connection", "flow", "loss", *_NAMES])
    columns = ["kind", "epoch", "of", *Place._fields, "said"]
    names = set()
    for part in _dataset(travelling).to_batches(columns=columns, filter=wanted):
        for row in part.to_pylist():
            kind, text = row["kind"], row["said"]
            if kind in _NAMES:
                if (kind, text) in names:
                    continue
                names.add((kind, text))
            said = json.loads(text) if kind in _NAMES else {}
            place = Place(row["at"], row["flow"], row["within"])
            yield Said(kind, row["epoch"], row["of"], place, said)


def _counts(travelling: Path) -> dict[str, int]:
    found: Counter[str] = Counter()
    for part in _dataset(travelling).to_batches(columns=["kind"]):
        for one in part["kind"].value_counts().to_pylist():
            found[one["values"]] += one["counts"]
    return found


def _dataset(folder: Path) -> ds.Dataset:
    return ds.dataset([str(path) for path in sorted(folder.glob("*.parquet"))])


def _write_exchanges(
    found: DataFrame, tasks: int, facts: Facts, capture: str, run: Path, *, bodies: bool
) -> int:
    """Returns how many bodies are not there though they were asked for, see variants.py."""
    from pyspark.sql.functions import col

    def hot(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        completion = Completion(facts, capture)
        for one in batches:
            yield completion.complete(one, EXCHANGES)

    def complete(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        completion = Completion(facts, capture)
        for one in (part for whole in batches for part in parts(whole)):
            full = completion.complete(one, ALL)
            texts = body_texts(full, facts.topics)
            arrays = [full[column.name] for column in EXCHANGES]
            yield pa.RecordBatch.from_arrays([*arrays, pa.array(texts, pa.string())], schema=schema)

    schema = arrow((*EXCHANGES, _BODY))
    rows = found.where(col("kind") == "exchange").coalesce(tasks)
    if bodies:
        rows = rows.mapInArrow(complete, ddl((*EXCHANGES, _BODY))).drop("capture")
        return write_exchanges(rows, FOLDERS[1:], run / "exchanges")
    rows = rows.mapInArrow(hot, ddl(EXCHANGES)).drop("capture")
    rows.write.options(**FRUGAL).partitionBy(*FOLDERS[1:]).parquet(str(run / "exchanges"))
    return 0


def parts(one: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch cut so that the bodies in each part are not much."""
    begin = size = 0
    sizes = [one[name].to_pylist() for name in ("request_size", "response_size")]
    for end, (request, response) in enumerate(zip(*sizes, strict=True), 1):
        size += request + (response or 0)
        if size >= PART or end == len(one):
            yield one.slice(begin, end - begin)
            begin, size = end, 0


_BODY: Final = Column("body", "string", "{request, response}")


def _write_smaller(
    found: DataFrame, counts: dict[str, int], facts: Facts, made: Plan, capture: str, run: Path
) -> None:
    if counts.get("error"):
        errors = _smaller(found, "error", ERRORS, error_row, facts, capture)
        errors.drop("capture").write.mode("append").parquet(str(run / "errors"))
    if counts.get("frame"):
        frames = _smaller(found, "frame", FRAMES, _frame_row, facts, capture)
        frames.drop("capture").write.parquet(str(run / "frames"))
    if counts.get("connection"):
        connections = _smaller(found, "connection", CONNECTIONS, connection_row, facts, capture)
        connections.drop("capture").write.parquet(str(run / "connections"))
    _add(run / "errors", ERRORS, fault_rows(made, capture))
    _add(run / "connections", CONNECTIONS, [])
    _add(run / "notes", NOTES, note_rows(made, capture))


def _frame_row(
    said: dict[str, Any], epoch: int, of: int, facts: Facts, capture: str
) -> dict[str, Any]:
    return frame_row(said, facts.connections[epoch, of], capture)


def _add(folder: Path, columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> None:
    """A file with what the driver itself knows; an empty one only if there is no other."""
    if rows or not folder.exists():
        folder.mkdir(exist_ok=True)
        table = pa.Table.from_batches([batch(rows, columns)]).drop_columns("capture")
        pq.write_table(table, folder / "part-driver.parquet")


def _smaller(
    found: DataFrame,
    kind: str,
    columns: tuple[Column, ...],
    make: Make,
    facts: Facts,
    capture: str,
) -> DataFrame:
    from pyspark.sql.functions import col

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            said = zip(*(one[name].to_pylist() for name in ("said", "epoch", "of")), strict=True)
            yield batch(
                (make(json.loads(text), epoch, of, facts, capture) for text, epoch, of in said),
                columns,
            )

    small = found.where(col("kind") == kind).select("said", "epoch", "of")
    return small.mapInArrow(rows, ddl(columns))
