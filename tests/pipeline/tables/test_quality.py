"""How much was read of a capture is a row; limits of it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.columns import VERSION, VERSION_KEY
from barnabas.pipeline.tables.limits import LIMITED, Limit, exceeded, limit
from barnabas.pipeline.tables.quality import QUALITY, quality
from barnabas.pipeline.tables.tables import TableOptions, write
from tests.places import SAMPLES

WHOLE = ("faults.pcapng", "transactions.pcapng")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("quality")
    for name in (*WHOLE, "midway.pcap"):
        write(None, [SAMPLES / name], folder)
    return folder


def test_a_row_for_each_capture_says_what_was_read(out: Path) -> None:
    rows = {row["capture"]: row for row in quality(out)}
    assert list(rows) == sorted((*WHOLE, "midway.pcap"))
    for name, row in rows.items():
        assert list(row) == [one.name for one in QUALITY]
        assert (row["files"], row["bytes"]) == (1, (SAMPLES / name).stat().st_size)
        assert row["packets"] > row["exchanges"] > 0
        files = (out / "exchanges" / f"capture={name}").rglob("*.parquet")
        assert row["exchanges"] == sum(pq.read_metadata(path).num_rows for path in files)
        assert all(isinstance(row[each], int) for each in LIMITED)


def test_what_could_not_be_read_is_counted(out: Path) -> None:
    rows = {row["capture"]: row for row in quality(out)}
    files = (out / "errors" / "capture=midway.pcap").glob("*.parquet")
    errors = [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]
    gaps = [row for row in errors if row["kind"] == "gap"]
    assert gaps
    found = rows["midway.pcap"]
    assert found["errors"] == len(errors)
    assert found["gaps"] == len(gaps)
    assert found["missing"] == sum(row["bytes"] or 0 for row in gaps)


def test_damage_of_files_is_counted(tmp_path: Path) -> None:
    whole = (SAMPLES / "faults.pcapng").read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(whole[: len(whole) // 2 + 1])
    write(None, [tmp_path / "cut.pcapng"], tmp_path / "out")
    (row,) = quality(tmp_path / "out")
    assert row["skipped"] > 0
    assert exceeded([row], [Limit("skipped", 0)])


def test_folders_of_before_have_no_rows(tmp_path: Path) -> None:
    assert quality(tmp_path) == []


def test_limits_hold_over_all_captures() -> None:
    rows = [{"gaps": 1, "errors": 5}, {"gaps": 2, "errors": 0}]
    assert exceeded(rows, [Limit("gaps", 3), Limit("errors", 5)]) == []
    assert exceeded(rows, [Limit("gaps", 2)]) == ["quality.gaps is 3, more than 2"]
    assert exceeded([], [Limit("gaps", 0)]) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quality.bytes=0", "unknown 'quality.bytes'"),
        ("quality.gaps", "'' is not a number"),
        ("quality.gaps=-1", "'-1' is not a number"),
    ],
)
def test_limits_that_are_none_say_why(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        limit(text)


def test_each_file_has_the_version_of_its_table(out: Path) -> None:
    files = list(out.rglob("*.parquet"))
    assert {path.relative_to(out).parts[0] for path in files} == {
        "exchanges", "inside", "errors", "connections", "notes", "quality"
    }  # fmt: skip
    for path in files:
        assert pq.read_schema(path).metadata[VERSION_KEY] == str(VERSION).encode(), path


def test_files_are_few_and_sorted_by_api_and_time(out: Path) -> None:
    """A file for each day of a capture that one task has made."""
    for name in WHOLE:
        files = list((out / "exchanges" / f"capture={name}").rglob("*.parquet"))
        days = {path.parent for path in files}
        assert len(files) == len(days) > 0
        assert all(day.name.startswith("day=") for day in days)
        for path in files:
            rows = pq.ParquetFile(path).read(columns=["api", "ts_ns"]).to_pylist()
            assert rows == sorted(rows, key=lambda row: (row["api"], row["ts_ns"]))


def test_a_file_that_was_left_out_has_its_reason_in_errors(tmp_path: Path) -> None:
    options = TableOptions(skipped={Path("b.pcap"): "not a capture"})
    write(None, [SAMPLES / WHOLE[0]], tmp_path, options)
    (folder,) = (tmp_path / "errors").iterdir()
    rows = pq.read_table(folder).to_pylist()
    left_out = [(row["file"], row["reason"]) for row in rows if row["kind"] == "unreadable"]
    assert left_out == [("b.pcap", "not a capture")]
