"""Delta tables have the rows of the folder's tables, at each version those that it had then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from barnabas.pipeline.rows.columns import Column
from barnabas.pipeline.tables import schemas
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.delta import batches, commit, commit_batch, commit_capture
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.pipeline.tables.tables import TableOptions, write
from tests.places import SAMPLES

SIDE = ("inside", "errors", "connections", "notes", "quality")
ONE, OTHER = "rebalance.pcap.gz", "faults.pcapng"
COLUMNS = pa.schema([("capture", pa.string()), ("n", pa.int64())])


def analyzed(out: Path, *captures: str) -> None:
    for name in captures:
        made = write(None, [SAMPLES / name], out, TableOptions(bodies=Bodies(json=True)))
        commit_capture(out, made.capture)


def rows(found: pa.Table) -> list[str]:
    return sorted(json.dumps(one, default=str, sort_keys=True) for one in found.to_pylist())


def parquet(out: Path, table: str) -> list[str]:
    found = pq.read_table(out / table)
    kept = [name for name in found.column_names if name not in ("body", "batch")]
    columns = found.select(kept)
    for name in ("capture", "day"):  # folders' names are read as dictionaries
        if name in kept:
            kind = pa.date32() if name == "day" else pa.string()
            at = kept.index(name)
            columns = columns.set_column(at, name, columns[name].cast(pa.string()).cast(kind))
    return rows(columns)


def versions(out: Path, table: str) -> list[tuple[int, dict[str, int | str]]]:
    """What each version is called, and what its commit says; the latest first."""
    history = DeltaTable(out / "delta" / table).history()
    return [(one["version"], json.loads(one["userMetadata"])) for one in history]


def said(out: Path, table: str) -> list[dict[str, int | str]]:
    return [one for _, one in versions(out, table)]


def content(out: Path, table: str, version: int | None = None) -> pa.Table:
    return DeltaTable(out / "delta" / table, version=version).to_pyarrow_dataset().to_table()


def read(out: Path, table: str, version: int | None = None) -> list[str]:
    return rows(content(out, table, version))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures, of which the first was analyzed once more."""
    made = tmp_path_factory.mktemp("analysis")
    analyzed(made, ONE, OTHER, ONE)
    return made


def test_it_has_what_the_tables_have(out: Path) -> None:
    assert len(parquet(out, "exchanges")) > 100
    for table in ("exchanges", *SIDE):
        assert read(out, table) == parquet(out, table)


def test_a_version_is_a_run_in_all_tables(out: Path, tmp_path: Path) -> None:
    analyzed(tmp_path, ONE)
    for table in ("exchanges", *SIDE):
        assert said(out, table) == [{"capture": one} for one in (ONE, OTHER, ONE)]
        last, second, first = (version for version, _ in versions(out, table))
        if table != "quality":  # says when
            assert read(out, table, first) == read(tmp_path, table)
        assert len(read(out, table, second)) == len(read(out, table, last))


def test_a_batch_that_is_done_again_is_there_once(out: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    shutil.copytree(out, short, ignore=lambda *_: ["delta", "exchanges"])
    commit_batch(short, tmp_path, 0)  # it was cut short before its last table
    commit_batch(out, tmp_path, 0)
    for table in ("exchanges", *SIDE):
        assert said(tmp_path, table) == [{"batch": 0}]
        assert read(tmp_path, table) == parquet(out, table)
    commit_batch(out, tmp_path, 1)
    commit_batch(out, tmp_path, 0)
    assert said(tmp_path, "exchanges") == [{"batch": 1}, {"batch": 0}]
    assert len(read(tmp_path, "exchanges")) == 2 * len(parquet(out, "exchanges"))


def test_a_column_that_came_later_is_null_before(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_batch(out, tmp_path, 0)
    columns: Mapping[str, tuple[Column, ...]] = {
        **TABLES,
        "exchanges": (*TABLES["exchanges"], Column("later", "string", "came later", 3)),
    }
    monkeypatch.setattr(schemas, "TABLES", columns)
    commit_batch(out, tmp_path, 1)
    found = content(tmp_path, "exchanges")
    assert found["later"].null_count == len(found) == 2 * len(parquet(out, "exchanges"))


def test_a_table_that_can_not_be_written_is_told_in_a_line(out: Path, tmp_path: Path) -> None:
    (tmp_path / "delta").mkdir()
    (tmp_path / "delta" / "quality").write_text("no folder")
    with pytest.raises(OSError, match="Not a directory") as raised:
        commit_batch(out, tmp_path, 0)
    assert raised.value.filename == str(tmp_path / "delta" / "quality")
    assert "\n" not in str(raised.value)


def test_batches_are_told_apart_in_a_table_that_was_optimized(tmp_path: Path) -> None:
    for number in range(3):
        one = pa.table({"capture": ["a b%20c"], "n": [number]}, COLUMNS)
        commit(tmp_path / "errors", {"batch": number}, one.to_reader())
    assert DeltaTable(tmp_path / "errors").optimize.compact()["numFilesAdded"] == 1
    found = [(number, paths) for number, paths in batches(tmp_path / "errors")]
    assert [number for number, _ in found] == [2, 1, 0]
    assert [pq.ParquetFile(path).read()["n"].to_pylist() for _, (path,) in found] == [[2], [1], [0]]


def test_a_text_may_hold_other_ends_of_lines(tmp_path: Path) -> None:
    one = pa.table({"capture": ["a\u2028b\x85c"], "n": [1]}, COLUMNS)
    commit(tmp_path / "errors", {"batch": 0}, one.to_reader())
    (log,) = (tmp_path / "errors" / "_delta_log").glob("*.json")
    assert "\u2028" in log.read_text("utf-8")  # of the least and largest
    assert [number for number, _ in batches(tmp_path / "errors")] == [0]


@pytest.mark.parametrize(
    "damage",
    [
        b"null",
        b'"txn"',
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"txn": null}',
        b'{"txn": {"appId": "barnabas"}}',
        b'{"txn": {"appId": "barnabas", "version": "x"}}',
        b'{"add": null, "txn": {"appId": "barnabas", "version": 1}}',
    ],
)
def test_a_damaged_log_is_named(tmp_path: Path, damage: bytes) -> None:
    log = tmp_path / "errors" / "_delta_log" / f"{0:020}.json"
    log.parent.mkdir(parents=True)
    log.write_bytes(b'{"protocol": {}}\n' + damage + b"\n")
    with pytest.raises(OSError, match="it is damaged") as raised:
        list(batches(tmp_path / "errors"))
    assert raised.value.filename == str(log)
