"""What checks see of bodies."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.captures.checks.facts import PLACES, REQUEST_HASH, Place
from barnabas.captures.checks.partitions import answered_partitions, partitions
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import exchange, produce

TOPIC = uuid.UUID(int=1)


def place(exchange: Exchange) -> Place:
    (one,) = PLACES.of(exchange) or ()
    return one


def test_a_produce_has_figures_of_its_batch_and_no_records() -> None:
    one = place(produce(0, ["a", "b"], sequence=4, producer=7, epoch=1, offset=9))
    assert one.checksum is not None
    batch: dict[str, Any] = {
        "producer_id": 7,
        "producer_epoch": 1,
        "base_sequence": 4,
        "last_sequence": 5,
    }
    assert one._replace(checksum=None) == Place("orders", 0, error=0, offset=9, **batch)
    plain = place(produce(0, ["a"]))
    assert (plain.producer_id, plain.last_sequence) == (None, None)
    assert place(produce(0, ["a"], offset=-1)).offset is None


def test_requests_that_failed_for_the_moment_are_told_apart_by_their_hash() -> None:
    one, same, other = (produce(0, [text], error=7) for text in "aab")
    assert REQUEST_HASH.of(one) == REQUEST_HASH.of(same) != REQUEST_HASH.of(other)
    assert REQUEST_HASH.of(produce(0, ["a"])) is None
    hashes = [REQUEST_HASH.of(produce(0, [text], error=7)) or 0 for text in "abcdefgh"]
    assert all(-(1 << 63) <= one < 1 << 63 for one in hashes), "a column of tables holds them"


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
