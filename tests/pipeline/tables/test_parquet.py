"""Files that tasks write: what they return stays, and nothing that an attempt has left behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from barnabas.pipeline.tables.parquet import Groups, Part, Table, TaskFile, parts, write_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("kind", pa.string()), ("n", pa.int64())])


def filed(path: Path, groups: int) -> TaskFile:
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for group in range(groups):
            rows = [{"kind": ("a", "b")[n % 2], "n": 10 * group + n} for n in range(4)]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    return TaskFile(str(path), groups)


def test_parts_hold_all_row_groups_once(tmp_path: Path) -> None:
    files = [filed(tmp_path / str(groups), groups) for groups in (0, 1, 5)]
    found = parts(files, 2)
    assert [[(Path(path).name, *some) for path, *some in one.groups] for one in found] == [
        [("1", 0, 1), ("5", 0, 1)], [("5", 1, 3)], [("5", 3, 5)]
    ]  # fmt: skip
    numbers = [n for one in found for rows in one.batches("b") for n in rows["n"].to_pylist()]
    assert numbers == [1, 3, *(10 * group + n for group in range(5) for n in (1, 3))]
    (whole,) = Part((Groups(files[1].path, 0, 1),)).batches(None)
    assert whole["n"].to_pylist() == [0, 1, 2, 3]


def test_row_groups_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for number, kinds in enumerate(("bb", "ac", "aa", "ba")):
            rows = [{"kind": kind, "n": number} for kind in kinds]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    part = Part((Groups(str(path), 0, 4),))
    assert [rows["n"].to_pylist() for rows in part.batches("b") if len(rows)] == [[0, 0], [3]]
    assert [rows["n"].to_pylist() for rows in part.batches("a") if len(rows)] == [[1], [2, 2], [3]]
    assert [rows["n"].to_pylist() for rows in part.batches("d")] == []


def test_an_attempt_that_failed_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """It fails behind its first table, which is there in full; another has a file that no task returns."""
    mark, again = tmp_path / "tried", tmp_path / "again"
    table = pa.schema([("n", pa.int64())])

    def good(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            yield one.select(["n"])

    def flaky(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from good(batches)
        if not mark.exists():
            mark.touch()
            raise OSError("the disk is gone")
        (again / "flaky" / "part-of-an-attempt.parquet").touch()

    files = [filed(tmp_path / "rows.parquet", 3)]
    run = tmp_path / "run"
    run.mkdir()
    tables = [Table("good", "a", table, None, good), Table("flaky", "b", table, ["n"], flaky)]
    with pytest.raises(PySparkException, match="the disk is gone"):
        write_tables(spark, parts(files, 3), tables, run)
    again.mkdir()
    written = write_tables(spark, parts(files, 3), tables, again)
    assert sorted(str(one.path.relative_to(again).parent) for one in written) == ["flaky", "good"]
    assert pq.read_table(again / "good")["n"].to_pylist() == [0, 2, 10, 12, 20, 22]
    assert pq.read_table(again / "flaky")["n"].to_pylist() == [1, 3, 11, 13, 21, 23]
