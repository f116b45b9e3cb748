"""Tables of a table format have the rows of the folder's tables, at each version those that it had then."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from barnabas.pipeline.rows.columns import Column
from barnabas.pipeline.tables import schemas
from barnabas.pipeline.tables.decoded_bodies import Bodies
from barnabas.pipeline.tables.schemas import TABLES
from barnabas.pipeline.tables.table_formats import FORMATS, commit_batch, commit_capture
from barnabas.pipeline.tables.tables import TableOptions, write
from tests.places import SAMPLES

SIDE = ("inside", "errors", "connections", "notes", "quality")
ONE, OTHER = "rebalance.pcap.gz", "faults.pcapng"

KINDS = pytest.mark.parametrize("kind", list(FORMATS))


def analyzed(out: Path, *captures: str) -> None:
    for name in captures:
        made = write(None, [SAMPLES / name], out, TableOptions(bodies=Bodies(json=True)))
        for kind in FORMATS:
            commit_capture(out, kind, made.capture)


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


def iceberg(out: Path, table: str) -> Table:
    with SqlCatalog("barnabas", uri=f"sqlite:///{quote(str(out))}/iceberg/catalog.db") as catalog:
        return catalog.load_table(("barnabas", table))


def versions(out: Path, kind: str, table: str) -> list[tuple[Any, dict[str, int | str]]]:
    """What each version is called, and what its commit says; the latest first."""
    if kind == "delta":
        history = DeltaTable(out / kind / table).history()
        return [(one["version"], json.loads(one["userMetadata"])) for one in history]
    found: list[tuple[Any, dict[str, int | str]]] = []
    for one in reversed(iceberg(out, table).snapshots()):
        summary = {} if one.summary is None else one.summary.additional_properties
        if batch := summary.get("barnabas.batch"):
            found.append((one.snapshot_id, {"batch": int(batch)}))
        elif capture := summary.get("barnabas.capture"):
            found.append((one.snapshot_id, {"capture": capture}))
    return found


def said(out: Path, kind: str, table: str) -> list[dict[str, int | str]]:
    return [one for _, one in versions(out, kind, table)]


def content(out: Path, kind: str, table: str, version: Any = None) -> pa.Table:
    if kind == "delta":
        dataset = DeltaTable(out / kind / table, version=version).to_pyarrow_dataset()
    else:  # the rows as they are in the files
        tasks = iceberg(out, table).scan(snapshot_id=version).plan_files()
        files = [task.file.file_path for task in tasks]
        dataset = ds.dataset(files, iceberg(out, table).schema().as_arrow())
    return dataset.to_table()


def read(out: Path, kind: str, table: str, version: Any = None) -> list[str]:
    return rows(content(out, kind, table, version))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures, of which the first was analyzed once more."""
    made = tmp_path_factory.mktemp("analysis")
    analyzed(made, ONE, OTHER, ONE)
    return made


@KINDS
def test_it_has_what_the_tables_have(out: Path, kind: str) -> None:
    assert len(parquet(out, "exchanges")) > 100
    for table in ("exchanges", *SIDE):
        assert read(out, kind, table) == parquet(out, table)


@KINDS
def test_a_version_is_a_run_in_all_tables(out: Path, tmp_path: Path, kind: str) -> None:
    analyzed(tmp_path, ONE)
    for table in ("exchanges", *SIDE):
        assert said(out, kind, table) == [{"capture": one} for one in (ONE, OTHER, ONE)]
        last, second, first = (version for version, _ in versions(out, kind, table))
        if table != "quality":  # says when
            assert read(out, kind, table, first) == read(tmp_path, kind, table)
        assert len(read(out, kind, table, second)) == len(read(out, kind, table, last))


@KINDS
def test_a_batch_that_is_done_again_is_there_once(out: Path, tmp_path: Path, kind: str) -> None:
    short = tmp_path / "short"
    shutil.copytree(out, short, ignore=lambda *_: [*FORMATS, "exchanges"])
    commit_batch(short, tmp_path, kind, 0)  # it was cut short before its last table
    commit_batch(out, tmp_path, kind, 0)
    for table in ("exchanges", *SIDE):
        assert said(tmp_path, kind, table) == [{"batch": 0}]
        assert read(tmp_path, kind, table) == parquet(out, table)
    commit_batch(out, tmp_path, kind, 1)
    commit_batch(out, tmp_path, kind, 0)
    assert said(tmp_path, kind, "exchanges") == [{"batch": 1}, {"batch": 0}]
    assert len(read(tmp_path, kind, "exchanges")) == 2 * len(parquet(out, "exchanges"))


@KINDS
def test_a_column_that_came_later_is_null_before(
    out: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_batch(out, tmp_path, kind, 0)
    columns: Mapping[str, tuple[Column, ...]] = {
        **TABLES,
        "exchanges": (*TABLES["exchanges"], Column("later", "string", "came later", 3)),
    }
    monkeypatch.setattr(schemas, "TABLES", columns)
    commit_batch(out, tmp_path, kind, 1)
    found = content(tmp_path, kind, "exchanges")
    assert found["later"].null_count == len(found) == 2 * len(parquet(out, "exchanges"))


@KINDS
def test_a_table_that_can_not_be_written_is_told_in_a_line(
    out: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / kind).mkdir()
    (tmp_path / kind / "quality").write_text("no folder")
    with pytest.raises(OSError, match="Not a directory") as raised:
        commit_batch(out, tmp_path, kind, 0)
    assert raised.value.filename == str(tmp_path / kind / "quality")
    assert "\n" not in str(raised.value)
