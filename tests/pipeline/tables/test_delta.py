"""What Delta tables have of their own: others may optimize them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
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


def test_a_text_may_hold_other_ends_of_lines(tmp_path: Path) -> None:
    one = pa.table({"capture": ["a\u2028b\x85c"], "n": [1]}, COLUMNS)
    commit(tmp_path, "errors", {"batch": 0}, one.to_reader)
    (log,) = (tmp_path / "errors" / "_delta_log").glob("*.json")
    assert "\u2028" in log.read_text("utf-8")  # of the least and largest
    assert [number for number, _ in batches(tmp_path, "errors")] == [0]


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
        list(batches(tmp_path, "errors"))
    assert raised.value.filename == str(log)
