"""Small batches become one; whoever reads meanwhile has each row once, or is told that files are gone."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.pipeline.streaming import compaction
from barnabas.pipeline.streaming.compaction import BATCHES, batches, compact, exchange

SCHEMA = arrow(
    (
        Column("capture", "string", ""),
        Column("day", "date", ""),
        Column("api", "string", ""),
        Column("ts_ns", "bigint", ""),
    )
)
FOLDERS = ("capture", "day")
NEWER = SCHEMA.append(pa.field("later", pa.string()))
TABLE = "exchanges"


def filed(schema: pa.Schema) -> pa.Schema:
    """Those of the files: the folders' names have the others."""
    return pa.schema([field for field in schema if field.name not in FOLDERS])


def made(out: Path, numbers: range, schema: pa.Schema = SCHEMA) -> None:
    """A batch for each number, with two rows in each of two folders."""
    for number in numbers:
        for day in (1, 2):
            place = out / TABLE / f"batch={number}" / "capture=a b" / f"day=2026-01-0{day}"
            place.mkdir(parents=True)
            rows = [{"api": api, "ts_ns": 10 * number + day} for api in ("b", "a")]
            pq.write_table(pa.Table.from_pylist(rows, filed(schema)), place / "part-0.parquet")


def rows(out: Path) -> list[tuple[str, int]]:
    """What a reader finds."""
    paths = sorted((out / TABLE).rglob("*.parquet"))
    found = [row for path in paths for row in pq.ParquetFile(path).read().to_pylist()]
    return sorted((row["api"], row["ts_ns"]) for row in found)


def test_many_small_batches_become_one_that_is_sorted(tmp_path: Path) -> None:
    made(tmp_path, range(BATCHES - 1))
    compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    assert len(batches(tmp_path / TABLE)) == BATCHES - 1, "few stay as they are"
    made(tmp_path, range(BATCHES - 1, BATCHES))
    before = rows(tmp_path)
    compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    files = sorted((tmp_path / TABLE).rglob("*.parquet"))
    assert [path.parent.name for path in files] == ["day=2026-01-01", "day=2026-01-02"]
    assert [path.name for path in batches(tmp_path / TABLE)] == [f"batch={BATCHES - 1}"]
    assert rows(tmp_path) == before
    for path in files:
        found = [(str(row["api"]), row["ts_ns"]) for row in pq.ParquetFile(path).read().to_pylist()]
        assert found == sorted(found)
    assert not (tmp_path / "run").exists()


def test_large_batches_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, range(BATCHES + 1))
    (large,) = batches(tmp_path / TABLE)[3].glob("*/day=2026-01-01/*")
    more = pa.Table.from_pylist([{"api": "c" * 20_000, "ts_ns": 7}], filed(SCHEMA))
    pq.write_table(more, large, compression="none")
    before = rows(tmp_path)
    monkeypatch.setattr(compaction, "FILE", large.stat().st_size)
    compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    assert [path.name for path in batches(tmp_path / TABLE)] == ["batch=3", f"batch={BATCHES}"]
    assert rows(tmp_path) == before


def test_what_older_files_lack_is_null(tmp_path: Path) -> None:
    made(tmp_path, range(BATCHES))
    made(tmp_path, range(BATCHES, BATCHES + 1), NEWER)
    compact(tmp_path, tmp_path / "run", {TABLE: NEWER})
    found = ds.dataset(tmp_path / TABLE, partitioning="hive").to_table()
    assert found["later"].null_count == len(found) == 4 * (BATCHES + 1)


def test_a_table_without_rows_keeps_a_file(tmp_path: Path) -> None:
    for number in range(BATCHES):
        place = tmp_path / TABLE / f"batch={number}"
        place.mkdir(parents=True)
        pq.write_table(filed(SCHEMA).empty_table(), place / "part-0.parquet")
    compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    (path,) = (tmp_path / TABLE).rglob("*.parquet")
    assert pq.read_schema(path).names == SCHEMA.names


@pytest.mark.parametrize("place", ["_merge", "exchange"])
def test_one_that_is_cut_short_changes_nothing_and_the_next_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    right = getattr(compaction, place)

    def die(*given: object) -> None:
        if place == "_merge" or tmp_path / TABLE in given:
            raise KeyboardInterrupt
        right(*given)

    made(tmp_path, range(BATCHES))
    before = rows(tmp_path)
    monkeypatch.setattr(compaction, place, die)
    with pytest.raises(KeyboardInterrupt):
        compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    assert rows(tmp_path) == before
    assert len(batches(tmp_path / TABLE)) == BATCHES
    monkeypatch.setattr(compaction, place, right)
    compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    assert rows(tmp_path) == before


def test_where_folders_cannot_change_places_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError("this system can't exchange two folders")

    def fail(*_: object) -> None:
        raise AssertionError("in vain")

    made(tmp_path, range(BATCHES))
    monkeypatch.setattr(compaction, "exchange", none)
    monkeypatch.setattr(compaction, "_merge", fail)
    with pytest.raises(OSError, match="can't exchange"):
        compact(tmp_path, tmp_path / "run", {TABLE: SCHEMA})
    assert len(batches(tmp_path / TABLE)) == BATCHES


def test_folders_change_places(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).touch()
    exchange(tmp_path / "one", tmp_path / "other")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["other"]
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "nowhere")
