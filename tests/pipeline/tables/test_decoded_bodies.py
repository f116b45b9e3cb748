"""Bodies as VARIANT: the annotation in a file's footer; a body that can't be one is a row of errors."""

from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.tables.decoded_bodies import REASON, lost_bodies
from barnabas.pipeline.tables.partitioned_parquet import write
from barnabas.pipeline.tables.variant_annotation import annotate

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
    written = write([batch], SCHEMA, folders, tmp_path)
    lost = {"capture": "a b", "connection": 2, "bytes": 13, "ts_ns": 6, "packet": 8}
    assert lost_bodies(written, named) == [{**lost, "kind": "too large", "reason": REASON}]


@pytest.mark.parametrize("before", [0, 1, 20, 300])
def test_one_column_is_a_variant_and_all_else_as_it_was(before: int) -> None:
    """However long the list of columns is, and what else their types say."""
    kinds = (pa.string(), pa.timestamp("us", "UTC"), pa.list_(pa.int32()), pa.decimal128(9, 2))
    names = [f"c{number}" for number in range(before)]
    fields = [pa.field(name, kinds[at % len(kinds)]) for at, name in enumerate(names)]
    schema = pa.schema([*fields, pa.field("body", BODY), pa.field("last", pa.bool_())])
    value = {"value": b"\x0c\x05", "metadata": b"\1\0\0"}
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([{"body": value, "last": True}, {}], schema), file)
    plain = pq.ParquetFile(io.BytesIO(file.getvalue()))
    annotate(file, "body")
    found = pq.ParquetFile(io.BytesIO(file.getvalue()))
    said = str(found.schema)
    assert said.count("(Variant(1))") == 1
    assert "body (Variant(1)) {" in said
    assert said.splitlines()[1:] == [
        line.replace("group field_id=-1 body {", "group field_id=-1 body (Variant(1)) {")
        for line in str(plain.schema).splitlines()[1:]
    ]
    assert found.read().equals(plain.read())
