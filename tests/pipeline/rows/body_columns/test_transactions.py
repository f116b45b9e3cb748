"""Columns of the transaction APIs."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from tests.pipeline.given import hot, said

NUMBERS = {"producer_id": 9, "producer_epoch": 1}
PRODUCER = {"transactional_id": "payments", **NUMBERS}
GIVEN = {"error_code": 0, **NUMBERS}


@pytest.mark.parametrize("version", range(7))
def test_init_producer_id(version: int) -> None:
    request: dict[str, Any] = {"transactional_id": "payments", "transaction_timeout_ms": 1000}
    assert hot(said("InitProducerId", version, request, GIVEN)) == PRODUCER
    refused = {"error_code": 51, "producer_id": -1, "producer_epoch": -1}
    result = hot(said("InitProducerId", version, request, refused))
    assert "producer_id" not in result
    if version >= 3:
        request |= NUMBERS
        assert hot(said("InitProducerId", version, request))["producer_id"] == 9


@pytest.mark.parametrize("version", range(6))
def test_add_partitions_to_txn(version: int) -> None:
    topics = [{"name": "orders", "partitions": [0, 1]}]
    results = [
        {"partition_index": n, "partition_error_code": code} for n, code in ((1, 48), (0, 0))
    ]
    reported = [{"name": "orders", "results_by_partition": results}]
    if version < 4:
        before = "v3_and_below_"
        request: dict[str, Any] = {before + k: v for k, v in PRODUCER.items()}
        request[before + "topics"] = topics
        response: dict[str, Any] = {"results_by_topic_v3_and_below": reported}
    else:
        request = {"transactions": [PRODUCER | {"topics": topics}]}
        one = {"transactional_id": "payments", "topic_results": reported}
        response = {"results_by_transaction": [one]}
    result = hot(said("AddPartitionsToTxn", version, request, response))
    names = ("topic", "partition", "error_code")
    assert [tuple(one[name] for name in names) for one in result.pop("partitions")] == [
        ("orders", 0, 0),
        ("orders", 1, 48),
    ]
    error = {"error": "INVALID_TXN_STATE", "error_codes": [48]}
    assert result == {"topics": ["orders"]} | PRODUCER | error


def test_a_broker_adds_partitions_to_several_transactions() -> None:
    topics = [{"name": "t", "partitions": [1]}]
    transactions = [
        {"transactional_id": name, "producer_id": number, "topics": topics}
        for number, name in enumerate(("a", "b"))
    ]
    result = hot(said("AddPartitionsToTxn", 4, {"transactions": transactions}))
    assert len(result.pop("partitions")) == 2
    assert result == {"topics": ["t"]}


@pytest.mark.parametrize("version", range(6))
def test_end_txn(version: int) -> None:
    answer = {"error_code": 0} | ({"producer_id": 9, "producer_epoch": 2} if version >= 5 else {})
    result = hot(said("EndTxn", version, PRODUCER | {"committed": True}, answer))
    assert result == PRODUCER  # that it ends, not that it goes on with


def test_add_offsets_to_txn() -> None:
    result = hot(said("AddOffsetsToTxn", 3, {**PRODUCER, "group_id": "g"}))
    assert result == {**PRODUCER, "group": "g"}


def test_a_marker_is_of_the_transaction_that_its_producer_had() -> None:
    context = Context()
    request = {"transactional_id": "payments", "transaction_timeout_ms": 1000}
    context.learn(said("InitProducerId", 4, request, GIVEN))
    topics = [{"name": "orders", "partition_indexes": [3]}]
    marker = {**NUMBERS, "transaction_result": True, "topics": topics}
    result = hot(said("WriteTxnMarkers", 1, {"markers": [marker]}), context)
    (one,) = result.pop("partitions")
    assert (one["topic"], one["partition"]) == ("orders", 3)
    assert result == {"topics": ["orders"], **PRODUCER}
