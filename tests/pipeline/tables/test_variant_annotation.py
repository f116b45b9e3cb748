"""What the footer of a file says after it was annotated, read by Arrow's own reading of Parquet."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from barnabas.pipeline.rows.bodies import BODY
from barnabas.pipeline.tables.tables import write
from barnabas.pipeline.tables.variant_annotation import annotate
from tests.places import SAMPLES

SOURCE = SAMPLES / "transactions.pcapng"


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


def bodies(out: Path) -> list[pq.ParquetFile]:
    return [pq.ParquetFile(path) for path in (out / "exchanges").rglob("*.parquet")]


def test_bodies_are_annotated(tmp_path: Path) -> None:
    write(None, [SOURCE], tmp_path)
    for file in bodies(tmp_path):
        assert "body (Variant(1)) {" in str(file.schema)
        assert "body_json" not in file.schema_arrow.names


def test_with_json_beside_them_they_are_not(tmp_path: Path) -> None:
    """Readers that want JSON may refuse what is annotated."""
    write(None, [SOURCE], tmp_path, json_bodies=True)
    for file in bodies(tmp_path):
        assert "Variant" not in str(file.schema)
        for row in file.read(columns=["api", "body_json"]).to_pylist():
            assert json.loads(row["body_json"]).keys() == {"request", "response"}
