"""What counts as a batch that is in the log twice, and what does not."""

from __future__ import annotations

from typing import Any

from barnabas.testing.exchange import Exchange
from barnabas.testing.sequences import duplicate_sequences
from tests.barnabas.testing.made import batch, exchange, produce

FIRST = batch(7, 0, 0)
LOST: dict[str, Any] = {"latency_ms": None}


def found(*exchanges: Exchange) -> list[tuple[int, tuple[int, ...]]]:
    return [(each.base_sequence, each.offsets) for each in duplicate_sequences(exchanges)]


def test_taken_at_two_offsets() -> None:
    first = produce(1, (0, FIRST), offsets={0: 0}, **LOST)
    again = produce(2, (0, FIRST), offsets={0: 3})
    (duplicate,) = duplicate_sequences([again, first])
    assert duplicate.exchanges == (first, again)
    assert duplicate.offsets == (0, 3)
    assert (duplicate.topic, duplicate.partition) == ("orders", 0)
    assert (duplicate.producer_id, duplicate.producer_epoch) == (7, 0)


def test_a_broker_that_knows_the_sequence_answers_with_the_first_offset() -> None:
    lost = produce(1, (0, FIRST), offsets={0: 0}, **LOST)
    assert found(lost, produce(2, (0, FIRST), offsets={0: 0})) == []
    assert found(lost, produce(2, (0, FIRST), errors={0: 46})) == []
    assert found(lost, produce(2, (0, FIRST), offsets={0: -1})) == [], "it does not say where"


def test_what_was_refused_or_never_answered_was_not_taken() -> None:
    taken = produce(3, (0, FIRST), offsets={0: 9})
    assert found(produce(1, (0, FIRST), errors={0: 6}), taken) == []
    assert found(produce(1, (0, FIRST), **LOST), taken) == []


def test_another_partition_epoch_producer_or_sequence_is_another_batch() -> None:
    for other in ((1, FIRST), (0, batch(8, 0, 0)), (0, batch(7, 1, 0)), (0, batch(7, 0, 1))):
        second = produce(2, other, offsets={other[0]: 3})
        assert found(produce(1, (0, FIRST), offsets={0: 0}), second) == []


def test_without_a_sequence_nothing_can_be_told() -> None:
    plain = (0, batch(value=b"same"))
    assert found(produce(1, plain, offsets={0: 0}), produce(2, plain, offsets={0: 1})) == []


def test_one_batch_of_several_in_a_request() -> None:
    second = (1, batch(7, 0, 50))
    one = produce(1, (0, FIRST), second, offsets={0: 0, 1: 0})
    assert found(one, produce(2, second, offsets={1: 4})) == [(50, (0, 4))]


def test_other_requests_do_not_count() -> None:
    assert found(exchange("Fetch", request=None)) == []
