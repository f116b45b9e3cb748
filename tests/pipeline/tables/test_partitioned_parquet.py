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
    written = write(batches, SCHEMA, ("day", "api"), tmp_path)
    assert sorted(str(one.path.parent.relative_to(tmp_path)) for one in written) == [
        f"day=2026-01-0{day}/api={api}"
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
    (one,) = write(batches, SCHEMA, (), tmp_path)
    assert groups(one.path) == [25, 25, 20]
    monkeypatch.setattr(partitioned_parquet, "ROWS", 1000)
    monkeypatch.setattr(partitioned_parquet, "BYTES", 2 * batches[0].nbytes)
    (one,) = write(batches, SCHEMA, (), tmp_path)
    assert len(groups(one.path)) == 4
    assert sum(groups(one.path)) == 70


def test_rows_in_memory_are_bounded_and_each_file_is_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitioned_parquet, "GATHERED", 1)
    batches = [batch(range(11, -1, -1))] * 3
    written = write(batches, SCHEMA, ("day",), tmp_path, order=("n",))
    assert len({one.path for one in written}) == 6
    for one in written:
        begin = 0 if "day=2026-01-01" in str(one.path) else 1
        assert pq.ParquetFile(one.path).read()["n"].to_pylist() == [*range(begin, 12, 2)]
        (column, *_) = (pq.read_metadata(one.path).row_group(0).column(at) for at in range(2))
        assert column.compression == "ZSTD"


def test_there_may_be_any_number_of_folders(tmp_path: Path) -> None:
    days = [date.fromordinal(730_000 + n) for n in range(2000)]
    rows = [{"day": day, "api": "a", "n": n} for n, day in enumerate(days)]
    table = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    assert len(write([table], SCHEMA, ("day",), tmp_path)) == len(days)


def test_bodies_are_with_their_rows_when_those_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    (one,) = write(batches, schema, (), tmp_path, order=("n",))
    result = pq.read_table(one.path).to_pylist()
    assert [row["n"] for row in result] == [row["of"] for row in result] == [*range(14)]
    bodies = [row["body"] and row["body"]["value"] for row in result]
    assert bodies == [None if n == 8 else b"%d" % n for n in range(14)]
    assert one.nulls


def test_spark_knows_the_columns_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    schema = arrow(EXCHANGES).append(pa.field("body", BODY))
    value = Body(b"\x0c\x05", b"\1\0\0")
    nothing = dict.fromkeys(schema.names) | {"body": value._asdict()}
    rows = pa.RecordBatch.from_pylist([nothing], schema=schema)
    write([rows], schema, (), tmp_path)
    result = spark.read.parquet(str(tmp_path))
    assert dict(result.dtypes) == dict(
        spark.createDataFrame([], ddl(EXCHANGES) + ", `body` variant").dtypes
    )
    assert [row["n"] for row in result.selectExpr("cast(body as int) as n").collect()] == [5]
