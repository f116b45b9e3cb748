"""The records that draws stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from barnabas.experiments.clients.draws import SEND_BYTES, Draw, draw, plain
from barnabas.experiments.clients.traffic import ALL_BYTES, Round, identity, parameters, plan
from barnabas.experiments.clients.workloads import WORKLOADS, Workload, find

NOW = 1_800_000_000_000
PRODUCERS = [workload for workload in WORKLOADS if workload.sends]


def rounds(drawn: Draw) -> list[Round]:
    return plan(drawn, [f"t-{number}" for number in range(drawn.records)], "t", NOW)


def records(drawn: Draw) -> list[dict[str, Any]]:
    return [record for sends in rounds(drawn) for send in sends for record in send]


def value(record: dict[str, Any]) -> bytes | None:
    """The value as programs make it."""
    if record.get("null"):
        return None
    size = record.get("size")
    padded = f"{record['id']}|".ljust(size or 0, "x")[:size]
    return (record["id"] if size is None else padded).encode()


def test_plain_records_have_keys_and_are_sent_one_by_one() -> None:
    (only,) = rounds(plain(find("produce"), 2))
    assert only == [[{"id": "t-0", "key": "t-0"}], [{"id": "t-1", "key": "t-1"}]]


@pytest.mark.parametrize("workload", PRODUCERS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("seed", range(1, 30))
def test_all_records_can_be_identified_and_written(workload: Workload, seed: int) -> None:
    drawn = draw(seed, workload)
    planned = records(drawn)
    assert [record["id"] for record in planned] == [f"t-{n}" for n in range(drawn.records)]
    total = 0
    for sends in rounds(drawn):
        for send in sends:
            sizes = [len(value(record) or b"") for record in send if "size" in record]
            assert sum(sizes) <= SEND_BYTES
            total += sum(sizes)
    assert total <= ALL_BYTES
    for record in planned:
        key = record["key"].encode() if "key" in record else None
        assert identity(key, value(record)) == record["id"]
        assert record.get("partition", 0) < drawn.partitions
        assert NOW - 86_400_000 <= record.get("timestamp", NOW) <= NOW


def test_a_feature_that_is_left_out_leaves_the_others_as_they_are() -> None:
    drawn = Draw(seed=5, sends=50, to="any", topics=3, headers=True, timestamps=True, largest=900)
    without = drawn.model_copy(update={"headers": False})
    for with_headers, record in zip(records(drawn), records(without), strict=True):
        assert {name: with_headers[name] for name in with_headers if name != "headers"} == record


def test_programs_get_settings_by_kafka_s_names_and_as_json() -> None:
    drawn = Draw(sends=3, per_send=2, in_flight=2, linger_ms=0, compression="lz4", partitions=7)
    found = json.loads(json.dumps(parameters(drawn, find("produce"), "t", NOW)))
    assert found["settings"] == {"compression.type": "lz4", "linger.ms": 0}
    assert (found["records"], found["partitions"]) == (6, 7)
    assert [[len(send) for send in sends] for sends in found["rounds"]] == [[2, 2], [2]]
