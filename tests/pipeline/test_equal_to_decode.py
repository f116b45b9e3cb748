"""The tables hold what `decode --json` prints, row by row and field by field, however they were made.

Those that a cluster makes are in tests/pipeline/spark/test_session.py, which has one.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.dataset as ds
import pytest
from typer.testing import CliRunner

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context.name_completion import complete
from barnabas.captures.kafka.exchange import body_version
from barnabas.cli.app import app
from barnabas.pipeline.rows.columns import BODY_JSON, EXCHANGES
from barnabas.pipeline.rows.inside import INSIDE
from barnabas.pipeline.streaming.arrivals import Arrivals
from barnabas.pipeline.streaming.batches import Batches
from barnabas.pipeline.streaming.job import Job
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.tables import TableOptions, write
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.jsonform import BLOBS
from tests.captures.produced import produced
from tests.captures.writing.test_rotation import rotated
from tests.pipeline.samples import SAMPLES
from tests.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = dict[str, Any]

SAME = (
    *("connection", "client_address", "client_id", "user", "api", "key", "version"),
    *("correlation_id", "request_size", "response_size", "error", "rules"),
)
"""Columns that a line of `decode --json` has as the table has them."""

BESIDE = ("note", "sasl")
"""Columns that a line has only if there is anything to say."""

ROUNDED = ("latency_ms", "broker_ms")

FOREIGN = [
    ROOT / "tests" / "captures" / "foreign" / name for name in ("frames_cut_off.pcap", "sasl.pcap")
]

PAGE = ROOT / "docs" / "howto" / "spark.md"


class Said(NamedTuple):
    """What `decode --json` says, in an order."""

    exchanges: list[Row]
    inside: list[tuple[Any, ...]]
    """(connection, ordinal, correlation id, direction, path, what was found there)."""


def said(path: Path, *options: str, over: bool = False) -> Said:
    """Of a capture. over: without what is open when the capture ends."""
    result = CliRunner().invoke(app, ["decode", str(path), "--json", *options])
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    capture = open_capture(path)
    exchanges = list(capture.learn(capture.exchanges(inferred=True)))
    topics = capture.context.topics
    rows, inside = [], []
    for line, one in zip(lines, exchanges, strict=True):
        if over and one.note.endswith("the capture ends"):
            continue
        for direction in DIRECTIONS:
            if line[direction] is not None:
                version = body_version(one.key, one.version, direction, one.body(direction) or b"")
                complete(line[direction], one.key, version, direction, topics)
        row = {name: line[name] for name in (*SAME, *ROUNDED, *DIRECTIONS, "ts", "broker")}
        row |= {name: line.get(name, "") for name in BESIDE}
        rows.append(row | {"request_packet": one.request_packet, "ordinal": one.ordinal})
        inside += [
            (one.connection, one.ordinal, one.correlation_id, direction, path, found)
            for direction, places in line.get("inside", {}).items()
            for path, found in places.items()
        ]
    return Said(sorted(rows, key=_place), sorted(map(_plain, inside), key=repr))


def held(out: Path) -> Said:
    """The same of the tables in a folder."""
    rows = []
    for row in _rows(out, "exchanges", [*(one.name for one in EXCHANGES), BODY_JSON.name]):
        found = {
            name: row[name] for name in (*SAME, *BESIDE, "broker", "request_packet", "ordinal")
        }
        for name in ROUNDED:
            found[name] = None if row[name] is None else round(row[name], 3)
        time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row["ts_ns"] // 1000)
        found["ts"] = f"{time:%Y-%m-%dT%H:%M:%S.%f}Z"
        body = json.loads(row[BODY_JSON.name])
        rows.append(found | {direction: body[direction] for direction in DIRECTIONS})
    numbers = {(row["connection"], row["ordinal"]): row["correlation_id"] for row in rows}
    whole: dict[tuple[Any, ...], Row] = {}
    for row in sorted(_rows(out, "inside", [one.name for one in INSIDE]), key=_in_order):
        if row["depth"]:
            continue  # it stands in what it lies in, too
        record = row["kind"].endswith("record")
        of, found = (row["connection"], row["ordinal"]), json.loads(row["said"])
        path = row["path"].rpartition("[")[0] if record else row["path"]
        at = whole.setdefault((*of, numbers[of], row["direction"], path), {})
        if record:
            at.setdefault("left_off", 0)
            at.setdefault("records", []).append(found)
        else:
            at |= found
    inside = [(*at, found) for at, found in whole.items()]
    return Said(sorted(rows, key=_place), sorted(map(_plain, inside), key=repr))


def _rows(out: Path, table: str, columns: list[str]) -> list[Row]:
    found = ds.dataset(out / table, partitioning="hive").to_table(columns=columns)
    rows: list[Row] = found.to_pylist()
    return rows


def _place(row: Row) -> tuple[Any, ...]:
    return row["connection"], row["request_packet"], row["correlation_id"], row["ts"]


def _in_order(row: Row) -> tuple[str, int]:
    """Records of a set by their numbers."""
    path, _, number = row["path"].rpartition("[")
    number = number.rstrip("]")
    return path, int(number) if number.isdigit() else -1


def _plain(found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Fields in an order of their own."""
    return (*found[:-1], json.loads(json.dumps(found[-1], sort_keys=True)))


def differences(found: Said, right: Said) -> list[Any]:
    """What differs, first of all how many rows there are. Of a broker a table may know what is said later."""
    wrong: list[Any] = [
        (len(some), len(others))
        for some, others in ((found.exchanges, right.exchanges), (found.inside, right.inside))
        if len(some) != len(others)
    ]
    for one, other in zip(found.exchanges, right.exchanges, strict=False):
        for name, value in other.items():
            if one[name] != value and (name, value) != ("broker", None):
                wrong.append((_place(other), name, one[name], value))
    wrong += [pair for pair in zip(found.inside, right.inside, strict=False) if pair[0] != pair[1]]
    return wrong


def documented() -> dict[str, tuple[int, int]]:
    """The table of the page: by sample how many exchanges and how much within bytes is compared."""
    rows = (line.split("|")[1:-1] for line in PAGE.read_text("utf-8").splitlines())
    cells = [[cell.strip() for cell in row] for row in rows]
    names = {path.name for path in SAMPLES}
    return {
        row[0].strip("`"): (int(row[1]), int(row[2]))
        for row in cells
        if row and row[0].strip("`") in names
    }


@pytest.mark.parametrize("path", [*SAMPLES, *FOREIGN], ids=lambda path: path.name)
def test_tables_made_here(path: Path, tmp_path: Path) -> None:
    write(None, [path], tmp_path, TableOptions(bodies=Bodies(json=True)))
    right = said(path)
    assert differences(held(tmp_path), right) == []
    if path in SAMPLES:
        assert documented()[path.name] == (len(right.exchanges), len(right.inside))
    else:
        assert any(row["note"] or row["sasl"] for row in right.exchanges)


@pytest.mark.parametrize("word", BLOBS)
def test_large_bytes_are_elided_or_whole(tmp_path: Path, word: str) -> None:
    path = produced(tmp_path / "large.pcapng", bytes(range(256)) * 32)
    options = TableOptions(bodies=Bodies(json=True, blob=BLOBS[word]))
    write(None, [path], tmp_path / "out", options)
    right = said(path, "--bodies", word)
    assert ("sha256" in str(right.exchanges)) == (word == "elided")
    assert differences(held(tmp_path / "out"), right) == []


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_tables_of_a_folder_that_is_followed(
    spark: SparkSession, path: Path, tmp_path: Path
) -> None:
    """In segments, of which a batch reads two."""
    folder, out = tmp_path / "captures", tmp_path / "out"
    rotated(path, folder, {15, 40, 80})
    arrivals = Arrivals(folder, out, at_once=2)
    arrivals.look()
    Job(spark, folder, Batches(out), Bodies(json=True)).run(arrivals)
    assert differences(held(out), said(folder, over=True)) == []
