"""Files that tasks write: what they return stays, and nothing that an attempt has left behind."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

from barnabas.pipeline.tables.parquet import (
    Part,
    Table,
    all_rows,
    parts,
    rows_of_kind,
    write_tables,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("kind", pa.string()), ("n", pa.int64())])


def filed(path: Path, groups: int) -> str:
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for group in range(groups):
            rows = [{"kind": ("a", "b")[n % 2], "n": 10 * group + n} for n in range(4)]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    return str(path)


def test_parts_hold_all_row_groups_once(tmp_path: Path) -> None:
    files = ds.dataset([filed(tmp_path / str(groups), groups) for groups in (0, 1, 5)])
    found = pickle.loads(pickle.dumps(parts(files, 2)))
    groups = [
        [(Path(of.path).name, *(group.id for group in of.row_groups)) for of in one]
        for one in found
    ]
    assert groups == [[("1", 0), ("5", 0)], [("5", 1, 2)], [("5", 3, 4)]]
    numbers = [n for one in found for rows in rows_of_kind(one, "b") for n in rows["n"].to_pylist()]
    assert numbers == [1, 3, *(10 * group + n for group in range(5) for n in (1, 3))]
    assert next(all_rows(found[0]))["n"].to_pylist() == [0, 1, 2, 3]


def test_row_groups_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, SCHEMA) as writer:
        for number, kinds in enumerate(("bb", "ac", "aa", "ba")):
            rows = [{"kind": kind, "n": number} for kind in kinds]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
    (part,) = parts(ds.dataset(path), 4)
    assert [rows["n"].to_pylist() for rows in rows_of_kind(part, "b")] == [[0, 0], [3]]
    assert [rows["n"].to_pylist() for rows in rows_of_kind(part, "a")] == [[1], [2, 2], [3]]
    assert [rows["n"].to_pylist() for rows in rows_of_kind(part, "d")] == []


def test_an_attempt_that_failed_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """It fails behind its first table, which is there in full; another has a file that no task returns."""
    mark, again = tmp_path / "tried", tmp_path / "again"
    table = pa.schema([("n", pa.int64())])

    def good(part: Part, kind: str = "a") -> Iterator[pa.RecordBatch]:
        for one in rows_of_kind(part, kind, ["n"]):
            yield one.select(["n"])

    def flaky(part: Part) -> Iterator[pa.RecordBatch]:
        yield from good(part, "b")
        if not mark.exists():
            mark.touch()
            raise OSError("the disk is gone")
        (again / "flaky" / "part-of-an-attempt.parquet").touch()

    inputs = parts(ds.dataset(filed(tmp_path / "rows.parquet", 3)), 3)
    run = tmp_path / "run"
    run.mkdir()
    tables = [Table("good", table, good), Table("flaky", table, flaky)]
    with pytest.raises(PySparkException, match="the disk is gone"):
        write_tables(spark, inputs, tables, run)
    again.mkdir()
    written = write_tables(spark, inputs, tables, again)
    assert sorted(str(one.path.relative_to(again).parent) for one in written) == ["flaky", "good"]
    assert pq.read_table(again / "good")["n"].to_pylist() == [0, 2, 10, 12, 20, 22]
    assert pq.read_table(again / "flaky")["n"].to_pylist() == [1, 3, 11, 13, 21, 23]
