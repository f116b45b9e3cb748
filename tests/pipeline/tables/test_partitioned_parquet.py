"""Parquet in folders: what Spark and pyarrow read of it, and what is kept in memory meanwhile."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.bodies import BODY, Body
from barnabas.pipeline.rows.columns import EXCHANGES, arrow, ddl
from barnabas.pipeline.tables import partitioned_parquet
from barnabas.pipeline.tables.partitioned_parquet import write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("day", pa.date32()), ("api", pa.string()), ("n", pa.int64())])
DAYS = (date(2026, 1, 1), date(2026, 1, 2))


def batch(numbers: range) -> pa.RecordBatch:
    rows = [{"day": DAYS[n % 2], "api": ("a/b", None)[n % 3 > 0], "n": n} for n in numbers]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def test_each_row_is_in_the_folder_of_its_values(tmp_path: Path) -> None:
    batches = [batch(range(at, at + 10)) for at in range(0, 30, 10)]
    written = write(batches, SCHEMA, ("day", "api"), tmp_path, "part.parquet")
    assert sorted(str(one.path.relative_to(tmp_path)) for one in written) == [
        f"day=2026-01-0{day}/api={api}/part.parquet"
        for day in (1, 2)
        for api in ("__HIVE_DEFAULT_PARTITION__", "a%2Fb")
    ]
    kinds = pa.schema([SCHEMA.field("day"), SCHEMA.field("api")])
    result = ds.dataset(tmp_path, partitioning=ds.partitioning(kinds, flavor="hive")).to_table()
    expected = [row for one in batches for row in one.to_pylist()]
    assert sorted(result.select(SCHEMA.names).to_pylist(), key=lambda row: row["n"]) == expected


def groups(path: Path) -> list[int]:
    result = pq.read_metadata(path)
    return [result.row_group(at).num_rows for at in range(result.num_row_groups)]


def test_row_groups_end_by_rows_and_by_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned_parquet, "ROWS", 25)
    batches = [batch(range(10))] * 7
    (one,) = write(batches, SCHEMA, (), tmp_path, "rows.parquet")
    assert groups(one.path) == [25, 25, 20]
    monkeypatch.setattr(partitioned_parquet, "ROWS", 1000)
    monkeypatch.setattr(partitioned_parquet, "BYTES", 2 * batches[0].nbytes)
    (one,) = write(batches, SCHEMA, (), tmp_path, "bytes.parquet")
    assert len(groups(one.path)) == 4
    assert sum(groups(one.path)) == 70


def test_what_all_folders_keep_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is sorted, and written when it is too much."""
    monkeypatch.setattr(partitioned_parquet, "KEPT", 1)
    batches = [batch(range(11, -1, -1))] * 3
    written = write(batches, SCHEMA, ("day",), tmp_path, "part.parquet", order=("n",))
    assert {pq.read_metadata(one.path).num_row_groups for one in written} == {3}
    assert pq.read_table(written[1].path)["n"].to_pylist() == [*range(0, 12, 2)] * 3


def test_a_file_that_is_large_is_followed_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned_parquet, "ROWS", 5)
    monkeypatch.setattr(partitioned_parquet, "FILE", 1)
    batches = [batch(range(at, at + 10)) for at in (10, 0)]
    written = write(batches, SCHEMA, (), tmp_path, "{}.parquet", order=("n",))
    assert [one.path.name for one in written] == [f"{number}.parquet" for number in range(4)]
    numbers = [n for one in written for n in pq.read_table(one.path)["n"].to_pylist()]
    assert numbers == list(range(20))
    assert {pq.read_metadata(one.path).row_group(0).column(0).compression for one in written} == {
        "ZSTD"
    }


@pytest.mark.parametrize("large", [0, 1 << 30], ids=["stay", "are moved"])
def test_bodies_are_with_their_rows_when_those_are_sorted(
    large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned_parquet, "LARGE", large)
    monkeypatch.setattr(partitioned_parquet, "ROWS", 5)
    schema = pa.schema([("n", pa.int64()), ("body", BODY), ("of", pa.int64())])
    # runs within a batch and across two, single rows, and one without a body
    numbers = [[3, 4, 5, 12], [6, 0, 1, 13], [], [11, 2, 10, 9, 8, 7]]
    batches = [
        pa.RecordBatch.from_arrays(
            [
                pa.array(some, pa.int64()),
                pa.array(
                    [None if n == 8 else {"value": b"%d" % n, "metadata": b"m"} for n in some], BODY
                ),
                pa.array(some, pa.int64()),
            ],
            schema=schema,
        )
        for some in numbers
    ]
    (one,) = write(batches, schema, (), tmp_path, "rows.parquet", order=("n",))
    result = pq.read_table(one.path).to_pylist()
    assert [row["n"] for row in result] == [row["of"] for row in result] == [*range(14)]
    bodies = [row["body"] and row["body"]["value"] for row in result]
    assert bodies == [None if n == 8 else b"%d" % n for n in range(14)]
    assert one.nulls == 1


def test_spark_knows_the_columns_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    schema = arrow(EXCHANGES).append(pa.field("body", BODY))
    value = Body(b"\x0c\x05", b"\1\0\0")
    nothing = dict.fromkeys(schema.names) | {"body": value._asdict()}
    rows = pa.RecordBatch.from_pylist([nothing], schema=schema)
    write([rows], schema, (), tmp_path, "part.parquet")
    result = spark.read.parquet(str(tmp_path))
    assert dict(result.dtypes) == dict(
        spark.createDataFrame([], ddl(EXCHANGES) + ", `body` variant").dtypes
    )
    assert [row["n"] for row in result.selectExpr("cast(body as int) as n").collect()] == [5]
