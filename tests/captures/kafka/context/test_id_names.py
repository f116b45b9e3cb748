"""Test ids with names in every layout: topics and producers."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs import records
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.records import Record
from barnabas.specs.registry import NAMES, api
from tests.captures.kafka.context.exchanges import CLICKS, ORDERS, exchange, line, metadata
from tests.captures.kafka.context.test_sessions import fetch

NAMED = {"name": "orders", "topic_id": ORDERS}


@pytest.mark.parametrize(
    "teacher",
    [
        metadata(orders=ORDERS),
        exchange("Metadata", 13, {"topics": [NAMED]}),
        exchange("CreateTopics", 7, {}, {"topics": [NAMED]}),
        exchange("DeleteTopics", 6, {}, {"responses": [NAMED]}),
        exchange("DescribeTopicPartitions", 0, {}, {"topics": [NAMED]}),
        exchange(
            "UpdateMetadata", 8, {"topic_states": [{"topic_name": "orders", "topic_id": ORDERS}]}
        ),
    ],
)
def test_topics_are_learnt_from_all_that_say_both(teacher: Exchange) -> None:
    context = Context()
    context.learn(teacher)
    assert dict(context.topics) == {ORDERS: "orders"}


LONE: list[tuple[str, int, dict[str, Any] | None, dict[str, Any] | None]] = [
    ("Produce", 13, {"acks": 1, "topic_data": [{"topic_id": ORDERS}]}, None),
    ("Fetch", 13, {"topics": [{"topic_id": ORDERS}]}, None),
    ("Fetch", 18, None, {"responses": [{"topic_id": ORDERS}]}),
    ("OffsetCommit", 10, {"topics": [{"topic_id": ORDERS}]}, None),
    ("OffsetFetch", 10, None, {"groups": [{"topics": [{"topic_id": ORDERS}]}]}),
    ("ShareFetch", 1, {"topics": [{"topic_id": ORDERS}]}, None),
]


@pytest.mark.parametrize(("name", "version", "request_", "response"), LONE)
def test_ids_that_stand_alone_are_named_or_said_to_be_unknown(
    name: str, version: int, request_: Any, response: Any
) -> None:
    found, context = exchange(name, version, request_, response), Context()
    assert facts(found, context)["topics"] == {uuid_text(ORDERS): None}
    context.learn(metadata(orders=ORDERS, clicks=CLICKS))
    assert facts(found, context)["topics"] == {uuid_text(ORDERS): "orders"}


def batch(producer: int) -> bytes:
    return records.build([Record(0, 0, None, b"v")], producer_id=producer, producer_epoch=0)


@pytest.mark.parametrize(
    "teacher",
    [
        exchange("InitProducerId", 4, {"transactional_id": "pay"}, {"producer_id": 7}),
        exchange("AddPartitionsToTxn", 3, {"v3_and_below_transactional_id": "pay",
         "v3_and_below_producer_id": 7}),
        exchange("AddPartitionsToTxn", 4, {"transactions": [{"transactional_id": "pay", "producer_id": 7}]}),
        exchange("AddOffsetsToTxn", 0, {"transactional_id": "pay", "producer_id": 7}),
        exchange("TxnOffsetCommit", 3, {"transactional_id": "pay", "producer_id": 7}),
        exchange("EndTxn", 1, {"transactional_id": "pay", "producer_id": 7}),
        exchange("EndTxn", 5, {"transactional_id": "pay", "producer_id": 6}, {"producer_id": 7}),
        exchange("DescribeTransactions", 0, {}, {"transaction_states": [{"transactional_id": "pay",
         "producer_id": 7}]}),
        exchange("Produce", 9, {"transactional_id": "pay", "acks": -1,
         "topic_data": [{"name": "t", "partition_data": [{"records": batch(7)}]}]}),
    ],
)  # fmt: skip
def test_a_marker_is_said_to_be_of_its_transaction(teacher: Exchange) -> None:
    marker = {"producer_id": 7, "transaction_result": True, "topics": [
        {"name": "orders", "partition_indexes": [0, 1]}
    ]}  # fmt: skip
    found = exchange("WriteTxnMarkers", 1, {"markers": [marker]}, {})
    context = Context()
    assert line(context, found) == "producer 7 commit orders[0,1]"
    assert facts(found, context)["transactions"] == {"7": None}
    context.learn(teacher)
    assert line(context, found) == "producer 7 commit orders[0,1] of pay"
    assert facts(found, context)["transactions"] == {"7": "pay"}


def test_the_first_producer_of_a_cluster_has_the_id_0() -> None:
    context = Context()
    context.learn(exchange("AddOffsetsToTxn", 0, {"transactional_id": "pay", "producer_id": 0}))
    assert dict(context.producers) == {0: "pay"}


def test_an_idempotent_producer_belongs_to_no_transaction() -> None:
    context = Context()
    context.learn(exchange("InitProducerId", 4, {"transactional_id": None}, {"producer_id": 7}))
    assert not context.producers
    for data in (bytes(16) + b"\1" + bytes(60), batch(7)[:50]):  # of magic 1, and cut off
        partitions = [{"records": data}]
        topics = [{"name": "t", "partition_data": partitions}]
        context.learn(exchange("Produce", 3, {"transactional_id": "pay", "topic_data": topics}))
    assert not context.producers


def test_bodies_that_can_not_be_read_teach_nothing() -> None:
    context = Context()
    for key in NAMES:
        for version in (0, api(key).versions[1], 99):
            broken = Exchange(0, 1, "a:1", "app", 1, key, version, 1, 10)
            broken.request_body = broken.response_body = b"\x00\x01?"
            context.learn(broken)
            assert facts(broken, context).get("topics") is None
    assert not context.topics
    assert not context.producers


def test_all_that_is_forgotten_is_counted() -> None:
    context = Context()
    assert context.forgotten == 0
    for memory in (context.topics, context.groups, context.producers, context.sessions):
        memory._most = 1
    context.learn(metadata(orders=ORDERS, clicks=CLICKS))
    for group in ("a", "b"):
        context.learn(exchange("JoinGroup", 5, {"group_id": group, "protocol_type": "consumer"}))
    for session in (5, 6):
        context.learn(fetch(0, 0, answer=session))
    assert (context.forgotten, dict(context.topics)) == (3, {CLICKS: "clicks"})
