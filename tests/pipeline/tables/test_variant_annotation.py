"""What the footer of a file says after it was annotated, read by Arrow's own reading of Parquet."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.tables.variant_annotation import annotate


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
