"""What a Produce request brings, read from the bytes of a real one and of made up ones."""

from __future__ import annotations

from typing import Any

from barnabas.testing.batches import batches
from tests.barnabas.testing.made import exchange, produce

LIBRDKAFKA = (
    "AAAAAAAAAAAAAABMAAAAAAIA3Z1kAAAAAAACAAABof5q8XMAAAGh/mrxcwAAAAAydbGwAAAAAAAAAAAAAxAAAAABBHYw"
    "ABAAAAIBBHYxABAAAAQBBHYyAA=="
)
"""A batch of three records by an idempotent producer of librdkafka."""


def test_a_real_batch() -> None:
    (found,) = batches(produce(1, (3, LIBRDKAFKA), offsets={3: 5}))
    assert (found.topic, found.partition) == ("orders", 3)
    assert (found.producer_id, found.producer_epoch, found.base_sequence) == (846574000, 0, 0)
    assert (found.error_code, found.base_offset) == (0, 5)
    assert found.idempotent


def test_a_topic_that_stands_as_an_id_has_the_name_that_is_known() -> None:
    request = {"topic_data": [{"topic_id": "AAA", "partition_data": [{"index": 0, "records": ""}]}]}
    partition = {"index": 0, "error_code": 3, "base_offset": -1}
    response = {"responses": [{"topic_id": "AAA", "partition_responses": [partition]}]}
    bodies: dict[str, Any] = {"request": request, "response": response}
    (found,) = batches(exchange("Produce", **bodies))
    assert (found.topic, found.error_code) == ("AAA", 3)
    (found,) = batches(exchange("Produce", **bodies, context={"topics": {"AAA": "orders"}}))
    assert (found.topic, found.error_code) == ("orders", 3)
