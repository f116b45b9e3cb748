"""What Iceberg tables have of their own: many batches, and paths."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.tables import iceberg as table
from barnabas.pipeline.tables.iceberg import batches, commit
from tests.pipeline.tables.test_table_formats import iceberg

COLUMNS = pa.schema([("capture", pa.string()), ("n", pa.int64())])


def rows(*numbers: int) -> pa.RecordBatchReader:
    found = [{"capture": "a", "n": number} for number in numbers]
    return pa.Table.from_pylist(found, COLUMNS).to_reader()


def add(folder: Path, number: int, *numbers: int) -> None:
    commit(folder, "errors", {"batch": number}, lambda: rows(*numbers))


def numbers(paths: list[Path]) -> list[int]:
    return [number for path in paths for number in pq.read_table(path)["n"].to_pylist()]


def test_batches_are_told_apart_when_manifests_were_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, count = tmp_path / "iceberg", 7
    sooner = {"commit.manifest.min-count-to-merge": "5"}
    monkeypatch.setattr(table, "_PROPERTIES", {**table._PROPERTIES, **sooner})
    for number in range(count):
        add(folder, number, *[number] * (number > 0))  # the first one has no rows
    snapshot = iceberg(tmp_path, "errors").current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(iceberg(tmp_path, "errors").io)) < 5
    found = list(batches(folder, "errors"))
    *some, first = [(number, numbers(paths)) for number, paths in found]
    assert some == [(number, [number]) for number in range(count - 1, 0, -1)]
    assert first == (0, [])
    assert found[-1][1] == [], "no file is written for no rows"


def test_a_capture_is_replaced_without_being_read(tmp_path: Path) -> None:
    folder = tmp_path / "iceberg"
    for name in ("a" * 20, "a" * 20 + "b"):  # the first bytes of both are the same
        one = pa.table({"capture": [name], "n": [1]}, COLUMNS)
        commit(folder, "errors", {"capture": name}, one.to_reader)
    for path in (folder / "errors" / "data").iterdir():
        path.write_bytes(b"not Parquet")
    again = pa.table({"capture": ["a" * 20], "n": [2]}, COLUMNS)
    commit(folder, "errors", {"capture": "a" * 20}, again.to_reader)
    assert len([*iceberg(tmp_path, "errors").scan().plan_files()]) == 2


def test_a_folder_may_be_called_as_a_part_of_an_address(tmp_path: Path) -> None:
    out = tmp_path / "a#b c%20d"
    add(out / "iceberg", 0, 1, 2)
    assert iceberg(out, "errors").scan().to_arrow()["n"].to_pylist() == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_a_copy_is_not_written_to(tmp_path: Path) -> None:
    add(tmp_path / "iceberg", 0, 1)
    shutil.copytree(tmp_path / "iceberg", tmp_path / "copy" / "iceberg")
    with pytest.raises(OSError, match="it was made as") as raised:
        add(tmp_path / "copy" / "iceberg", 1, 2)
    assert str(tmp_path / "iceberg" / "errors") in str(raised.value)
    assert len(iceberg(tmp_path, "errors").snapshots()) == 1


@pytest.mark.parametrize(
    ("before", "said"), [(None, r"catalog\.db"), (b"", ""), (b"no database" * 99, "database")]
)
def test_who_reads_makes_no_catalog(tmp_path: Path, before: bytes | None, said: str) -> None:
    file = tmp_path / "catalog.db"
    if before is not None:
        file.write_bytes(before)
    with pytest.raises(OSError, match=said or None) as raised:
        list(batches(tmp_path, "errors"))
    assert raised.value.filename == str(tmp_path / "errors")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before][: file.exists()]


@pytest.mark.parametrize("damage", [b"{}", b"[", b"null", b"", b"\xff" * 100, None])
@pytest.mark.parametrize("kind", ["*.metadata.json", "snap-*.avro", "*-m0.avro"])
def test_a_table_that_is_damaged_is_named(tmp_path: Path, kind: str, damage: bytes | None) -> None:
    add(tmp_path, 0, 1)
    for path in (tmp_path / "errors" / "metadata").glob(kind):
        path.write_bytes(path.read_bytes()[:-30] if damage is None else damage)
    with pytest.raises(OSError) as raised:
        list(batches(tmp_path, "errors"))
    assert raised.value.filename == str(tmp_path / "errors")
    assert raised.value.strerror
    assert "\n" not in raised.value.strerror
