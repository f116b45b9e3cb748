"""Bodies that can't be VARIANT are null, and a row of errors: never in silence."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.tables.partitioned_parquet import write
from barnabas.pipeline.tables.variants import REASON, lost_bodies

SCHEMA = pa.schema(
    [
        *((name, pa.int64()) for name in ("connection", "ts_ns", "request_packet")),
        *((name, pa.int64()) for name in ("request_size", "response_size")),
        ("capture", pa.string()),
        ("body", BODY),
    ]
)


@pytest.mark.parametrize(("folders", "named"), [((), "a b"), (("capture",), None)])
def test_a_body_that_is_too_large_is_an_error(
    tmp_path: Path, folders: tuple[str, ...], named: str | None
) -> None:
    rows = [
        {"connection": 1, "ts_ns": 5, "request_packet": 7, "request_size": 10, "capture": "a b",
         "body": {"value": b"\0", "metadata": b"\1\0\0"}},
        {"connection": 2, "ts_ns": 6, "request_packet": 8, "request_size": 10, "response_size": 3,
         "capture": "a b"},
    ]  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    written = write([batch], SCHEMA, folders, tmp_path, "part.parquet")
    assert lost_bodies(written, named) == [
        {
            "capture": "a b",
            "connection": 2,
            "bytes": 13,
            "ts_ns": 6,
            "packet": 8,
            "kind": "too large",
            "reason": REASON,
        }
    ]
