"""Responses in other shapes: one of each, several, null, empty; each is one that the schema allows."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.bench_broker.response_shapes import SEVERAL
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import shape_of
from barnabas.specs import decode_frame, keys
from barnabas.specs.records import Batch, read


def bodies(key: int, version: int) -> dict[str, Any]:
    return {
        shape_of(seed.origin): decode_frame(seed.frame, "response", key=key, version=version).body
        for seed in seeds([(key, version)])
    }


def partitions(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for topic in body["responses"] for one in topic["partitions"]]


def batches(body: dict[str, Any]) -> list[Batch]:
    return [batch for one in partitions(body) for batch in read(one["records"] or b"")]


@pytest.mark.parametrize("version", [0, 2, 4, 11, 12, 13, 17])
def test_answers_to_fetch_have_all_that_a_client_may_insist_on(version: int) -> None:
    found = bodies(keys.FETCH, version)
    sizes = {(len(body["responses"]), len(partitions(body))) for body in found.values()}
    assert sizes == {(1, 2), (1, 1), (SEVERAL, SEVERAL * SEVERAL), (0, 0)}
    assert {len(batches(body)) == 0 for body in found.values()} == {True, False}
    one = [name for name, body in found.items() if len(partitions(body)) == 1]
    assert len(one) > len(found) / 2
    records = [record for body in found.values() for batch in batches(body) for record in batch]
    assert {record.key is None for record in records} == {True, False}
    assert {record.value is None for record in records} == {True, False}
    packed = {batch.compression for name in one for batch in batches(found[name])}
    assert packed >= {"none", "gzip", "snappy", "lz4"}
    if version >= 4:
        assert {len(record.headers) for record in records} >= {0, 1, 2, 3}
        assert None in {value for record in records for _, value in record.headers}
        assert "zstd" in packed
    assert any(
        partition["records"] is None for body in found.values() for partition in partitions(body)
    )
