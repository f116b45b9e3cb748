"""What Delta tables have of their own: others may optimize them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from barnabas.pipeline.tables.delta import batches, commit

COLUMNS = pa.schema([("capture", pa.string()), ("n", pa.int64())])


def test_batches_are_told_apart_in_a_table_that_was_optimized(tmp_path: Path) -> None:
    for number in range(3):
        one = pa.table({"capture": ["a b%20c"], "n": [number]}, COLUMNS)
        commit(tmp_path, "errors", {"batch": number}, one.to_reader)
    assert DeltaTable(tmp_path / "errors").optimize.compact()["numFilesAdded"] == 1
    found = [(number, paths) for number, paths in batches(tmp_path, "errors")]
    assert [number for number, _ in found] == [2, 1, 0]
    assert [pq.ParquetFile(path).read()["n"].to_pylist() for _, (path,) in found] == [[2], [1], [0]]
