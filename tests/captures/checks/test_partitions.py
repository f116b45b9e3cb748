"""Requests and responses, partition by partition."""

from __future__ import annotations

import uuid

import pytest

from barnabas.captures.checks.partitions import answered_partitions, partitions
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, produce

TOPIC = uuid.UUID(int=1)


def fetch(version: int, asked: tuple[int, ...], answered: tuple[int, ...]) -> Exchange:
    topic = {"topic": "orders"} if version < 13 else {"topic_id": TOPIC}
    wanted = [{"partition": one, "fetch_offset": 0} for one in asked]
    found = [{"partition_index": one, "error_code": 6, "high_watermark": 0} for one in answered]
    # forgotten ones are listed as well, and not asked about
    request = {
        "replica_id": -1,
        "topics": [{**topic, "partitions": wanted}],
        "forgotten_topics_data": [{**topic, "partitions": [9]}],
    }
    response = {"error_code": 0, "responses": [{**topic, "partitions": found}]}
    return exchange("Fetch", version, request, response, at=0)


@pytest.mark.parametrize("version", [12, 13])
def test_what_was_asked_with_its_answer(version: int) -> None:
    context = Context()
    context.topics[TOPIC] = "orders"
    one, other = answered_partitions(fetch(version, (0, 3), (3, 5)), context)
    assert (one.topic, one.number, one.place, one.answer) == ("orders", 0, "orders[0]", None)
    assert (other.place, (other.answer or {})["error_code"]) == ("orders[3]", 6)
    said = partitions(fetch(version, (0, 3), (3, 5)), "response", context)
    assert [one.place for one in said] == ["orders[3]", "orders[5]"]


def test_a_topic_whose_name_is_not_known_is_its_id() -> None:
    (one,) = answered_partitions(fetch(13, (0,), (0,)), Context())
    assert (one.topic, one.answer is not None) == (TOPIC, True)


def test_of_what_is_not_there_or_can_not_be_read_there_is_none() -> None:
    unanswered, broken = produce(0, ["a"], error=None), produce(0, ["a"])
    assert [one.answer for one in answered_partitions(unanswered, Context())] == [None]
    assert [*partitions(unanswered, "response", Context())] == []
    broken.request_body = b"\0"
    assert [*answered_partitions(broken, Context())] == []
